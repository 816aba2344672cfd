"""The phone with all of its apps, as it comes out of the box."""

from __future__ import annotations

from backtrail.envs.androidworld.phone.apps import files, notes, osmand_data, recorder, settings_values, vlc_data
from backtrail.envs.androidworld.phone.apps.browser import Browser
from backtrail.envs.androidworld.phone.apps.calendar import Calendar
from backtrail.envs.androidworld.phone.apps.camera import Camera
from backtrail.envs.androidworld.phone.apps.clock import Clock
from backtrail.envs.androidworld.phone.apps.contacts import Contacts
from backtrail.envs.androidworld.phone.apps.dialer import Dialer
from backtrail.envs.androidworld.phone.apps.drawing import Draw
from backtrail.envs.androidworld.phone.apps.expense import Expense
from backtrail.envs.androidworld.phone.apps.files import Files
from backtrail.envs.androidworld.phone.apps.gallery import Gallery
from backtrail.envs.androidworld.phone.apps.joplin import Joplin
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.music import Music
from backtrail.envs.androidworld.phone.apps.notes import Notes
from backtrail.envs.androidworld.phone.apps.opentracks import OpenTracks
from backtrail.envs.androidworld.phone.apps.osmand import OsmAnd
from backtrail.envs.androidworld.phone.apps.recipe import Recipe
from backtrail.envs.androidworld.phone.apps.recorder import Recorder
from backtrail.envs.androidworld.phone.apps.settings import Settings
from backtrail.envs.androidworld.phone.apps.sms import Sms
from backtrail.envs.androidworld.phone.apps.tasks import Tasks
from backtrail.envs.androidworld.phone.apps.vlc import Vlc
from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["make_phone"]

_SET_UPS = (settings_values.set_up, files.set_up, notes.set_up, recorder.set_up, osmand_data.set_up, vlc_data.set_up)


def make_phone(scale: float = 1.0) -> Phone:
    """Return a new phone with all apps.

    Args:
        scale: Size of its screenshots relative to the screen.
    """
    apps = (
        Launcher(),
        Settings(),
        Contacts(),
        Dialer(),
        Sms(),
        Browser(),
        Clock(),
        Camera(),
        Recorder(),
        Draw(),
        Files(),
        Notes(),
        Gallery(),
        Calendar(),
        Expense(),
        Recipe(),
        Tasks(),
        Music(),
        OsmAnd(),
        Joplin(),
        OpenTracks(),
        Vlc(),
    )
    return Phone(apps, scale, _SET_UPS)
