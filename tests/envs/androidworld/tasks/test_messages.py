"""Tasks on text messages: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import prepared, solved

from backtrail.envs.androidworld.phone.apps.texts import delete_messages, delete_thread, messages, send, thread_of
from backtrail.envs.androidworld.tasks import messages as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.messages import (
    SmsDeleteConversation,
    SmsForwardAddress,
    SmsReplyToLatest,
    SmsResend,
    SmsSendToContact,
    SmsSendToNumber,
    SmsWhenToMeet,
)

SENDING = (SmsForwardAddress, SmsReplyToLatest, SmsResend, SmsSendToContact, SmsSendToNumber)


@pytest.mark.parametrize("kind", SENDING)
def test_however_it_was_sent(kind: type[PhoneTask]) -> None:
    task = kind(3)
    phone = prepared(task).phone
    send(phone, task.parameters["number"], task.parameters["text"])
    assert task.done(phone)


@pytest.mark.parametrize("kind", SENDING)
def test_sent_to_somebody_else(kind: type[PhoneTask]) -> None:
    task = kind(3)
    phone = prepared(task).phone
    send(phone, task.parameters["people"][1][2], task.parameters["text"])
    assert not task.done(phone)


@pytest.mark.parametrize("kind", SENDING)
def test_another_text(kind: type[PhoneTask]) -> None:
    task = kind(3)
    phone = prepared(task).phone
    send(phone, task.parameters["number"], f"{task.parameters['text']} Bye")
    assert not task.done(phone)


@pytest.mark.parametrize("kind", SENDING)
def test_in_airplane_mode_nothing_is_sent(kind: type[PhoneTask]) -> None:
    task = kind(3)
    backend = prepared(task)
    backend.phone.settings["global"]["airplane_mode_on"] = "1"
    send(backend.phone, task.parameters["number"], task.parameters["text"])
    assert not task.done(backend.phone)


@pytest.mark.parametrize("kind", family.TASKS)
def test_one_message_too_many_or_too_few(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved = phone.save()
    send(phone, "+15559999999", "Sorry, wrong number")
    assert not task.done(phone)
    phone.load(saved)
    delete_messages(phone, [messages(phone)[0]["_id"]])
    assert not task.done(phone)


def test_the_conversation_with_a_near_equal_name() -> None:
    task = SmsDeleteConversation(0)
    phone = prepared(task).phone
    delete_thread(phone, thread_of(phone, task.parameters["people"][1][2]))
    assert not task.done(phone)


def test_the_first_proposal_is_not_the_time() -> None:
    task = SmsWhenToMeet(0)
    phone = prepared(task).phone
    for text, right in (("12:01", False), (f"We meet at {task.parameters['time']}.", True), ("", False)):
        phone.state["answer"] = text
        assert task.done(phone) is right
    phone.state["answer"] = f"{task.parameters['time']} or 12:01"
    assert not task.done(phone)
