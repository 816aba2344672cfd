"""Tasks for every Android device: prepared and judged through its shell, its files and what its screen shows.

The commands are those that AndroidWorld itself gives to a device: ``settings``, ``svc``, ``content query``,
``pm clear``, ``sqlite3``, ``input keyevent`` and a few on files. The device has AndroidWorld's apps, and adb is root.
"""

from __future__ import annotations

import random
import re
import shlex
import time
from typing import Any, ClassVar

from backtrail.envs.androidworld.app_names import PACKAGES
from backtrail.envs.androidworld.backend import DeviceBackend, DeviceError
from backtrail.envs.androidworld.phone.apps.extras import digits
from backtrail.envs.androidworld.tasks import portable_files
from backtrail.envs.androidworld.tasks.base import PortableTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.setting import ON_OFF, go, switch
from backtrail.envs.androidworld.tasks.stored import draw_sentences
from backtrail.envs.androidworld.tasks.words import draw_number, draw_people

__all__ = ["PORTABLE_TASKS"]

_TRIES, _PAUSE = 20, 0.5  # seconds
_SMS = "SMS Messenger"
_MESSAGES = "/data/data/com.android.providers.telephony/databases/mmssms.db"
_SENT = ("2", "4", "6")  # sent, on its way, waiting for its turn: the radio may be slower than the check
_MESSAGE = re.compile(
    r"^Row: \d+ type=(\d+), address=(.*?), body=(.*?)(?=^Row: \d+ type=|\Z)", re.MULTILINE | re.DOTALL
)
_CONTACT = re.compile(r"display_name=(.*), number=(.*)")
_APPS = (
    "Audio Recorder", "Broccoli", "Camera", "Chrome", "Clock", "Contacts", "Files", "Markor", "Phone", "Pro Expense",
    "Retro Music", "Settings", "Simple Calendar Pro", _SMS, "Simple Gallery Pro", "Tasks",
)  # fmt: skip
_CLOCK = PACKAGES["clock"]


def _get(device: DeviceBackend, key: str) -> str:
    """Return a setting, named by its space and key."""
    return device.shell(f"settings get {key}").strip()


# -- settings ---------------------------------------------------------------------------------------------


class _Radio(PortableTask):
    """A radio is turned on or off, while airplane mode stays off."""

    family = "settings"
    apps = ("Settings",)
    template = "Turn {what} {state}."
    steps = 10
    what: ClassVar[str]
    service: ClassVar[str]
    pages: ClassVar[tuple[str, ...]]
    words: ClassVar[str]

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw whether it should be on."""
        return {"what": self.what, "state": rng.choice(ON_OFF)}

    def prepare(self, device: DeviceBackend) -> None:
        """Turn it the other way and wait until it says so.

        Raises:
            DeviceError: If it does not.
        """
        device.shell("settings put global airplane_mode_on 0")
        device.shell(f"svc {self.service} {'disable' if self._on else 'enable'}")
        for _ in range(_TRIES):
            if self._value(device) == str(int(not self._on)):
                return
            time.sleep(_PAUSE)
        raise DeviceError(
            f"`svc {self.service}` did not turn {self.what} within {_TRIES * _PAUSE:g} s: reset the device"
        )

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether it is as asked for, and not by way of airplane mode."""
        return self._value(device) == str(int(self._on)) and _get(device, "global airplane_mode_on") == "0"

    def solve(self, oracle: Oracle) -> None:
        """Tap its switch."""
        go(oracle, *self.pages)
        switch(oracle, self.words, self._on)

    @property
    def _on(self) -> bool:
        return self.parameters["state"] == "on"

    def _value(self, device: DeviceBackend) -> str:
        return _get(device, f"global {self.service}_on")


class WifiSwitch(_Radio):
    """Turn Wi-Fi on or off."""

    what, service, pages, words = "Wi-Fi", "wifi", ("Network & internet", "Internet"), "Wi-Fi"


class BluetoothSwitch(_Radio):
    """Turn Bluetooth on or off."""

    what, service, pages, words = "Bluetooth", "bluetooth", ("Connected devices", "Bluetooth"), "Use Bluetooth"


class BrightnessExtreme(PortableTask):
    """Set the brightness to an end of its scale; it must not be left to adapt."""

    family = "settings"
    apps = ("Settings",)
    template = "Set the brightness of the screen to the {end} of its scale."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the end, and a level in between to begin with."""
        return {"end": rng.choice(("top", "bottom")), "level": rng.randint(30, 220)}

    def prepare(self, device: DeviceBackend) -> None:
        """Set a level in between."""
        device.shell("settings put system screen_brightness_mode 0")
        device.shell(f"settings put system screen_brightness {self.parameters['level']}")

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the level is 255 or 1."""
        level = "255" if self.parameters["end"] == "top" else "1"
        return (
            _get(device, "system screen_brightness") == level and _get(device, "system screen_brightness_mode") == "0"
        )

    def solve(self, oracle: Oracle) -> None:
        """Tap an end of the slider."""
        go(oracle, "Display", "Brightness level")
        oracle.slide("Display brightness", 1.0 if self.parameters["end"] == "top" else 0.0)


# -- contacts, messages, clock, apps ----------------------------------------------------------------------


class ContactCreate(PortableTask):
    """Add the first contact."""

    family = "contacts"
    apps = ("Contacts",)
    template = "Save a new contact: {first} {last}, with the phone number {number}."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a person."""
        first, last, number = draw_people(rng)[0]
        return {"first": first, "last": last, "number": number}

    def prepare(self, device: DeviceBackend) -> None:
        """Empty the phone book."""
        device.shell("pm clear com.android.providers.contacts")

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether this is the only number in the phone book."""
        said = device.shell("content query --uri content://contacts/phones/ --projection display_name:number")
        found = [(name, digits(number)) for name, number in _CONTACT.findall(said)]
        return found == [("{first} {last}".format(**self.parameters), digits(self.parameters["number"]))]

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        oracle.open("Contacts")
        oracle.tap("Create contact")
        oracle.type("First name", self.parameters["first"])
        oracle.type("Last name", self.parameters["last"])
        oracle.type("Phone", self.parameters["number"])
        oracle.tap("Save")


class MessageSend(PortableTask):
    """Send a text message to a number."""

    family = "messages"
    apps = (_SMS,)
    template = f'Use {_SMS} to send a text message to {{number}}: "{{text}}"'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the number and the text."""
        return {"number": draw_number(rng), "text": draw_sentences(rng, 1)[0]}

    def prepare(self, device: DeviceBackend) -> None:
        """Delete all messages, and let the phone be able to send."""
        device.shell("settings put global airplane_mode_on 0")
        for table in ("sms", "threads"):
            device.shell(f"sqlite3 {_MESSAGES} {shlex.quote(f'DELETE FROM {table};')}")

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether exactly this message was sent, once."""
        said = device.shell("content query --uri content://sms --projection type:address:body")
        sent = [(digits(number), text.strip()) for kind, number, text in _MESSAGE.findall(said) if kind in _SENT]
        return sent == [(digits(self.parameters["number"]), self.parameters["text"])]

    def solve(self, oracle: Oracle) -> None:
        """Begin a conversation; enter goes on from the number."""
        oracle.open(_SMS)
        oracle.tap("New conversation")
        oracle.type("new_conversation_address", self.parameters["number"])
        oracle.type("thread_type_message", self.parameters["text"])
        oracle.tap("Send")


class TimerEntered(PortableTask):
    """Enter the length of a timer."""

    family = "clock"
    apps = ("Clock",)
    template = (
        "Enter a timer of {hours} hours, {minutes} minutes and {seconds} seconds in the Clock app. Do not start it, "
        "and leave the app as it is then."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its length."""
        return {"hours": rng.randint(2, 23), "minutes": rng.randint(2, 59), "seconds": rng.randint(2, 59)}

    def prepare(self, device: DeviceBackend) -> None:
        """Let the clock forget its timers."""
        device.shell(f"pm clear {_CLOCK}")

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the clock shows the length as it was entered."""
        if device.activity().split("/")[0] != _CLOCK:
            return False
        text = "{hours:02d}h {minutes:02d}m {seconds:02d}s".format(**self.parameters)
        words = "{hours} hours, {minutes} minutes, {seconds} seconds".format(**self.parameters)
        return any(element.text == text or element.description == words for element in device.elements())

    def solve(self, oracle: Oracle) -> None:
        """Tap the digits."""
        oracle.open("Clock")
        oracle.tap("Timer")
        oracle.tap(*"{hours:02d}{minutes:02d}{seconds:02d}".format(**self.parameters).lstrip("0"))


class AppInFront(PortableTask):
    """Open an app."""

    family = "apps"
    template = "Open the app {app} and stay in it."
    steps = 5

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the app."""
        return {"app": rng.choice(_APPS)}

    def prepare(self, device: DeviceBackend) -> None:
        """Go home."""
        device.shell("input keyevent KEYCODE_HOME")

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the activity in front is one of the app."""
        return device.activity().split("/")[0] == PACKAGES[self.parameters["app"].lower()]

    def solve(self, oracle: Oracle) -> None:
        """Open it."""
        oracle.open(self.parameters["app"])


PORTABLE_TASKS: tuple[type[PortableTask], ...] = (
    *portable_files.TASKS, WifiSwitch, BluetoothSwitch, BrightnessExtreme, ContactCreate, MessageSend, TimerEntered,
    AppInFront,
)  # fmt: skip
