"""Tasks in Settings: switches, brightness, volumes, names; nothing else among the settings may change."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import settings_values
from backtrail.envs.androidworld.phone.apps.settings_values import TIMEOUTS, VOLUMES
from backtrail.envs.androidworld.tasks import settings_system
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.setting import ON_OFF, Setting, all_settings, go, switch

__all__ = ["TASKS"]

_PLACES = {
    "Wi-Fi": ("wifi_on", ("Network & internet", "Internet"), "Wi-Fi"),
    "mobile data": ("mobile_data", ("Network & internet",), "Mobile data"),
    "roaming": ("data_roaming", ("Network & internet",), "Roaming"),
    "airplane mode": ("airplane_mode_on", ("Network & internet",), "Airplane mode"),
    "Bluetooth": ("bluetooth_on", ("Connected devices", "Bluetooth"), "Use Bluetooth"),
    "dark theme": ("ui_night_mode", ("Display",), "Dark theme"),
    "adaptive brightness": ("screen_brightness_mode", ("Display",), "Adaptive brightness"),
    "Night Light": ("night_display_activated", ("Display",), "Night Light"),
    "auto-rotation of the screen": ("accelerometer_rotation", ("Display",), "Auto-rotate screen"),
    "Battery Saver": ("low_power", ("Battery",), "Battery Saver"),
    "high contrast text": ("high_text_contrast_enabled", ("Accessibility",), "High contrast text"),
    "color inversion": ("accessibility_display_inversion_enabled", ("Accessibility",), "Color inversion"),
    "touch sounds": ("sound_effects_enabled", ("Sound & vibration",), "Touch sounds"),
    "vibration for calls": ("vibrate_when_ringing", ("Sound & vibration",), "Vibrate for calls"),
}
"""What can be switched: its key, the pages that lead to it, and what its switch says."""

_RADIOS = ("Wi-Fi", "Bluetooth", "airplane mode", "mobile data", "roaming")
_LOOKS = ("dark theme", "adaptive brightness", "Night Light", "auto-rotation of the screen")
_OTHERS = ("Battery Saver", "high contrast text", "color inversion", "touch sounds", "vibration for calls")


def _value(what: str, on: bool) -> str:
    return {"dark theme": ("1", "2")}.get(what, ("0", "1"))[on]


def _turn(oracle: Oracle, what: str, on: bool) -> None:
    _, pages, words = _PLACES[what]
    go(oracle, *pages)
    switch(oracle, words, on)


# -- switches ---------------------------------------------------------------------------------------------


class _Switch(Setting):
    template = "Turn {what} {state} in the settings."
    steps = 10
    choice: tuple[str, ...] = ()

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw what is switched, and how the others of its kind begin."""
        state = rng.choice(ON_OFF)
        what = rng.choice([each for each in self.choice if (each, state) != ("airplane mode", "off")])
        others = [each for each in self.choice if each not in (what, "airplane mode", "Wi-Fi", "Bluetooth")]
        return {"what": what, "state": state, "others": {each: rng.choice(ON_OFF) for each in others}}

    def before(self) -> dict[str, str]:
        """Return the opposite of what is asked for."""
        begin = {self.parameters["what"]: self._off(), **self.parameters["others"]}
        return {_PLACES[what][0]: _value(what, state == "on") for what, state in begin.items()}

    def after(self) -> dict[str, str]:
        """Return the switch; airplane mode turns off what sends."""
        what, on = self.parameters["what"], self.parameters["state"] == "on"
        silenced = {"wifi_on": "3", "bluetooth_on": "2"} if what == "airplane mode" else {}
        return {_PLACES[what][0]: _value(what, on), **silenced}

    def solve(self, oracle: Oracle) -> None:
        """Go to its page and tap it."""
        _turn(oracle, self.parameters["what"], self.parameters["state"] == "on")

    def _off(self) -> str:
        return "off" if self.parameters["state"] == "on" else "on"


class TurnConnection(_Switch):
    """Turn Wi-Fi, Bluetooth, airplane mode or mobile data on or off."""

    choice = _RADIOS


class TurnDisplayOption(_Switch):
    """Turn the dark theme or another option of the display on or off."""

    choice = _LOOKS


class TurnOption(_Switch):
    """Turn an option of the battery, of sounds or of accessibility on or off."""

    choice = _OTHERS


class TurnTwoConnections(Setting):
    """Turn Wi-Fi and Bluetooth on or off."""

    template = "Make sure that Wi-Fi is {wifi} and Bluetooth is {bluetooth}."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a beginning and another end."""
        wifi, bluetooth, first, both = (rng.choice(ON_OFF) for _ in range(4))
        flips = [True, both == "on"] if first == "on" else [both == "on", True]
        begin = [ON_OFF[(now == "on") != flip] for now, flip in zip((wifi, bluetooth), flips, strict=True)]
        return {"wifi": wifi, "bluetooth": bluetooth, "begin": begin, "mobile": rng.choice(ON_OFF)}

    def before(self) -> dict[str, str]:
        """Return at least one of both other than asked for."""
        wifi, bluetooth = (_value("", state == "on") for state in self.parameters["begin"])
        mobile = _value("", self.parameters["mobile"] == "on")
        return {"wifi_on": wifi, "bluetooth_on": bluetooth, "mobile_data": mobile}

    def after(self) -> dict[str, str]:
        """Return both."""
        wifi, bluetooth = (_value("", self.parameters[name] == "on") for name in ("wifi", "bluetooth"))
        return {"wifi_on": wifi, "bluetooth_on": bluetooth}

    def solve(self, oracle: Oracle) -> None:
        """See to one after the other."""
        _turn(oracle, "Wi-Fi", self.parameters["wifi"] == "on")
        _turn(oracle, "Bluetooth", self.parameters["bluetooth"] == "on")


# -- display ----------------------------------------------------------------------------------------------


class SetBrightnessEnd(Setting):
    """Set the brightness to its maximum or minimum, and whether it adapts."""

    template = "Turn the brightness of the screen to its {end} and adaptive brightness {adaptive}."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw an end of the scale, and the level to begin with."""
        end, adaptive, begin = rng.choice(("maximum", "minimum")), rng.choice(ON_OFF), rng.choice(ON_OFF)
        return {"end": end, "adaptive": adaptive, "begin": begin, "level": rng.randint(20, 240)}

    def before(self) -> dict[str, str]:
        """Return a level in between."""
        mode = _value("", self.parameters["begin"] == "on")
        return {"screen_brightness": str(self.parameters["level"]), "screen_brightness_mode": mode}

    def after(self) -> dict[str, str]:
        """Return 255 or 1."""
        mode = _value("", self.parameters["adaptive"] == "on")
        return {"screen_brightness": self._level, "screen_brightness_mode": mode}

    def solve(self, oracle: Oracle) -> None:
        """See to the switch, then tap an end of the slider."""
        go(oracle, "Display")
        switch(oracle, "Adaptive brightness", self.parameters["adaptive"] == "on")
        oracle.tap("Brightness level")
        oracle.slide("Display brightness", 1.0 if self.parameters["end"] == "maximum" else 0.0)

    @property
    def _level(self) -> str:
        return "255" if self.parameters["end"] == "maximum" else "1"


class SetBrightness(Setting):
    """Set the brightness to about a level."""

    template = "Set the brightness of the screen to {percent} percent. It may be off by 3 percent at most."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a level, and one to begin with that is another."""
        percent = rng.randrange(10, 95, 5)
        return {"percent": percent, "begin": rng.choice([each for each in range(101) if abs(each - percent) > 15])}

    def before(self) -> dict[str, str]:
        """Return the level to begin with."""
        return {"screen_brightness": str(1 + round(2.54 * self.parameters["begin"]))}

    def done(self, phone: Phone) -> bool:
        """Whether the level is near enough, and all other settings are as they were."""
        level = settings_values.brightness(phone)
        near = abs((level - 1) / 2.54 - self.parameters["percent"]) <= 3.5
        return near and phone.settings == all_settings({"screen_brightness": str(level)})

    def solve(self, oracle: Oracle) -> None:
        """Tap the slider where the level is."""
        go(oracle, "Display", "Brightness level")
        oracle.slide("Display brightness", self.parameters["percent"] / 100)


class SetScreenTimeout(Setting):
    """Set after which time the screen goes off, and the size of its text."""

    template = "Let the screen go off after {timeout} of inactivity and set the font size to {size}."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw two times and a size."""
        timeout, begin = rng.sample(list(TIMEOUTS), 2)
        size, now = rng.sample(list(settings_values.FONT_SIZES), 2)
        return {"timeout": timeout, "begin": begin, "size": size, "now": now}

    def before(self) -> dict[str, str]:
        """Return others of both."""
        size = settings_values.FONT_SIZES[self.parameters["now"]]
        return {"screen_off_timeout": TIMEOUTS[self.parameters["begin"]], "font_scale": size}

    def after(self) -> dict[str, str]:
        """Return both."""
        size = settings_values.FONT_SIZES[self.parameters["size"]]
        return {"screen_off_timeout": TIMEOUTS[self.parameters["timeout"]], "font_scale": size}

    def solve(self, oracle: Oracle) -> None:
        """Choose both from their lists."""
        go(oracle, "Display", "Screen timeout", self.parameters["timeout"])
        go(oracle, "Display", "Font size", self.parameters["size"])


# -- sound, time, names -----------------------------------------------------------------------------------


class SetVolume(Setting):
    """Set a volume to an end of its scale, and Do Not Disturb."""

    template = "Set the {volume} to its {end} and turn Do Not Disturb {state}."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a volume, an end of its scale and whether it should be quiet."""
        key = rng.choice(list(VOLUMES))
        label = VOLUMES[key][0]
        names = {"volume": label[0].lower() + label[1:], "end": rng.choice(("maximum", "minimum"))}
        return {"key": key, **names, "state": rng.choice(ON_OFF), "step": rng.randint(1, VOLUMES[key][1] - 1)}

    def before(self) -> dict[str, str]:
        """Return a step in between, and the other state."""
        return {self.parameters["key"]: str(self.parameters["step"]), "zen_mode": _value("", not self._quiet)}

    def after(self) -> dict[str, str]:
        """Return the highest step or 0, and the state."""
        key = self.parameters["key"]
        step = VOLUMES[key][1] if self.parameters["end"] == "maximum" else 0
        return {key: str(step), "zen_mode": _value("", self._quiet)}

    def solve(self, oracle: Oracle) -> None:
        """Tap an end of the slider, then go to Do Not Disturb."""
        go(oracle, "Sound & vibration")
        end = 1.0 if self.parameters["end"] == "maximum" else 0.0
        sliders = [e for e in oracle.backend.elements() if e.class_name.endswith("SeekBar")]
        left, top, right, bottom = next(
            e.bounds for e in sliders if e.description == VOLUMES[self.parameters["key"]][0]
        )
        oracle.do("click", x=left + round(end * (right - left - 1)), y=(top + bottom) // 2)
        oracle.tap("Do Not Disturb")
        if oracle.sees("Turn on now" if self._quiet else "Turn off now"):
            oracle.tap("Turn on now" if self._quiet else "Turn off now")

    @property
    def _quiet(self) -> bool:
        return self.parameters["state"] == "on"


TASKS: tuple[type[PhoneTask], ...] = (
    TurnConnection,
    TurnDisplayOption,
    TurnOption,
    TurnTwoConnections,
    SetBrightnessEnd,
    SetBrightness,
    SetScreenTimeout,
    SetVolume,
    *settings_system.TASKS,
)
