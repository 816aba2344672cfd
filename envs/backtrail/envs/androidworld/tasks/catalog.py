"""All kinds of tasks, by family."""

from __future__ import annotations

from backtrail.envs.androidworld.tasks import (
    browser,
    calendar,
    clock,
    composite,
    contacts,
    expenses,
    files,
    joplin,
    media,
    messages,
    music,
    notes,
    opentracks,
    osmand,
    phone_calls,
    recipes,
    settings,
    todo,
    vlc,
)
from backtrail.envs.androidworld.tasks.base import PhoneTask

__all__ = ["ALL_TASKS"]

ALL_TASKS: tuple[type[PhoneTask], ...] = (
    *browser.TASKS,
    *calendar.TASKS,
    *clock.TASKS,
    *composite.TASKS,
    *contacts.TASKS,
    *expenses.TASKS,
    *files.TASKS,
    *joplin.TASKS,
    *media.TASKS,
    *messages.TASKS,
    *music.TASKS,
    *notes.TASKS,
    *opentracks.TASKS,
    *osmand.TASKS,
    *phone_calls.TASKS,
    *recipes.TASKS,
    *settings.TASKS,
    *todo.TASKS,
    *vlc.TASKS,
)
