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
    media,
    messages,
    music,
    notes,
    phone_calls,
    recipes,
    settings,
    todo,
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
    *media.TASKS,
    *messages.TASKS,
    *music.TASKS,
    *notes.TASKS,
    *phone_calls.TASKS,
    *recipes.TASKS,
    *settings.TASKS,
    *todo.TASKS,
)
