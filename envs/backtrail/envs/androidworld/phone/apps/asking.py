"""A dialog with one field, which asks for a name."""

from __future__ import annotations

from collections.abc import Callable

from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["ask", "asked", "open_question"]


def open_question(ui: Ui, name: str, text: str = "") -> None:
    """Open the dialog ``name`` with a text in its field."""
    ui.fill(name, text)
    ui.overlay(name)


def asked(ui: Ui, name: str) -> bool:
    """Whether the dialog ``name`` is open."""
    return ui.state.get("overlay") == name


def ask(ui: Ui, name: str, title: str, hint: str, ok: str, tap: Callable[[str], object]) -> None:
    """Draw the dialog ``name``; ``tap`` gets what was typed, without spaces around it."""

    def done() -> None:
        hide()
        tap(ui.typed(name).strip())

    def hide() -> None:
        ui.phone.state.update(focus="", keyboard=False)

    with ui.dialog(title, ("Cancel", hide), (ok, done), height=220):
        ui.field(name, hint)
