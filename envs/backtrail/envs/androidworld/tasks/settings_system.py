"""More tasks in Settings: how the time is written, names, networks, devices, and something that the phone does not have."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import settings_values
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.setting import ON_OFF, Setting, all_settings, go, switch

__all__ = ["TASKS"]

_OWNERS = ("Ana", "Bo", "Carla", "Dev", "Edith", "Farid", "Greta", "Hugo", "Ida", "Jonas", "Kavya", "Liam")
_PHONES = ("phone", "pocket phone", "work phone", "spare phone", "test phone")
_WORDS = ("maple", "harbor", "velvet", "copper", "lantern", "meadow", "orchid", "granite", "willow", "ember")
_DEVICES = ("Speaker", "Headphones", "Earbuds", "Watch", "Soundbar", "Keyboard")

_MISSING = {
    "NFC": ("NFC", "Connected devices"),
    "the Wi-Fi hotspot": ("hotspot", "Network & internet"),
    "data over satellite": ("satellite", "Network & internet"),
    "unlocking by fingerprint": ("fingerprint", "Security"),
    "unlocking by face": ("face", "Security"),
    "the always-on display": ("always-on", "Display"),
    "a refresh rate of 120 Hz": ("refresh rate", "Display"),
    "the screen saver": ("saver", "Display"),
    "charging other phones without a cable": ("wireless", "Battery"),
    "spatial audio": ("spatial", "Sound & vibration"),
}
"""What this phone does not have, what to search for, and the page that would show it."""


class SetTimeFormat(Setting):
    """Write times with 12 or 24 hours."""

    template = "Show the time of day in the {hours}-hour format and turn the automatic time zone {zone}."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the format and whether the zone is found automatically."""
        hours = rng.choice(("12", "24"))
        begin = {"time": rng.choice(ON_OFF), "zone": rng.choice(ON_OFF)}
        return {"hours": hours, "zone": rng.choice(ON_OFF), "begin": begin}

    def before(self) -> dict[str, str]:
        """Return the other format."""
        begin = {name: str(ON_OFF.index(state)) for name, state in self.parameters["begin"].items()}
        other = {"12": "24", "24": "12"}[self.parameters["hours"]]
        return {"time_12_24": other, "auto_time": begin["time"], "auto_time_zone": begin["zone"]}

    def after(self) -> dict[str, str]:
        """Return the format and the zone's switch."""
        zone = str(ON_OFF.index(self.parameters["zone"]))
        return {"time_12_24": self.parameters["hours"], "auto_time_zone": zone}

    def solve(self, oracle: Oracle) -> None:
        """Go to the page of the time."""
        go(oracle, "System", "Date & time")
        switch(oracle, "Set time zone automatically", self.parameters["zone"] == "on")
        switch(oracle, "Use 24-hour format", self.parameters["hours"] == "24")


class NamePhone(Setting):
    """Give the phone another name."""

    template = 'Change the device name of this phone to "{name}".'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the new name and the old one."""
        owner, other = rng.sample(_OWNERS, 2)
        kind = rng.choice(_PHONES)
        return {"name": f"{owner}'s {kind}", "begin": f"{other}'s {kind}"}

    def before(self) -> dict[str, str]:
        """Return the old name."""
        return {"device_name": self.parameters["begin"]}

    def after(self) -> dict[str, str]:
        """Return the new name."""
        return {"device_name": self.parameters["name"]}

    def solve(self, oracle: Oracle) -> None:
        """Answer the question of the page about the phone."""
        go(oracle, "About emulated device", "Device name")
        oracle.type("Name", self.parameters["name"])
        oracle.tap("OK")


class JoinNetwork(PhoneTask):
    """Connect to a network with its password."""

    family = "settings"
    apps = ("Settings",)
    template = 'Connect to the Wi-Fi network "{ssid}"; its password is {password}.'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the network and others with names that are much like it."""
        first, second, third = rng.sample(_WORDS, 3)
        ssid = f"{first.capitalize()}-{second}"
        others = [f"{ssid}-guest", f"{first.capitalize()}-{third}"]
        return {"ssid": ssid, "password": f"{third}{rng.randint(1000, 9999)}", "others": others}

    def prepare(self, phone: Phone) -> None:
        """Put the networks within reach."""
        settings_values.add_network(phone, self.parameters["others"][0])
        settings_values.add_network(phone, self.parameters["ssid"], self.parameters["password"])
        settings_values.add_network(phone, self.parameters["others"][1], "not" + self.parameters["password"])

    def done(self, phone: Phone) -> bool:
        """Whether the phone is connected to it, knows no other new network and has the settings that it had."""
        saved = {row["ssid"] for row in phone.data("settings")["networks"] if row["saved"]}
        joined = settings_values.joined(phone) == self.parameters["ssid"]
        return joined and saved == {"AndroidWifi", self.parameters["ssid"]} and phone.settings == all_settings({})

    def solve(self, oracle: Oracle) -> None:
        """Choose it from the list and enter the password."""
        go(oracle, "Network & internet", "Internet", self.parameters["ssid"])
        oracle.type("Password", self.parameters["password"])
        oracle.tap("Connect")


class PairDevice(PhoneTask):
    """Pair a Bluetooth device."""

    family = "settings"
    apps = ("Settings",)
    template = 'Pair the Bluetooth device "{name}" with this phone.'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the device and others with names that are much like it."""
        owner, other = rng.sample(_OWNERS, 2)
        kind, second = rng.sample(_DEVICES, 2)
        names = [f"{owner}'s {kind}", f"{owner}'s {second}", f"{other}'s {kind}"]
        order = rng.sample(names, 3)
        return {"name": names[0], "order": order}

    def prepare(self, phone: Phone) -> None:
        """Put the devices within reach."""
        rows = phone.data("settings")["devices"]
        for number, name in enumerate(self.parameters["order"]):
            rows.append({"name": name, "address": f"44:5E:F3:20:00:0{number}", "paired": False, "connected": False})

    def done(self, phone: Phone) -> bool:
        """Whether it is paired and no other is that was not."""
        paired = [row["name"] for row in phone.data("settings")["devices"] if row["paired"]]
        return paired == ["Living Room Speaker", self.parameters["name"]] and phone.settings == all_settings({})

    def solve(self, oracle: Oracle) -> None:
        """Choose it from the list and confirm."""
        go(oracle, "Connected devices", "Pair new device", self.parameters["name"], "Pair")


class UseMissingFeature(PhoneTask):
    """Turn on something that the phone does not have."""

    family = "settings"
    apps = ("Settings",)
    template = "Turn on {feature} in the settings."
    steps = 15
    infeasible = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw something that is missing."""
        return {"feature": rng.choice(list(_MISSING))}

    def prepare(self, phone: Phone) -> None:
        """Leave the phone as it is."""

    def done(self, phone: Phone) -> bool:
        """Nothing counts as done."""
        return False

    def solve(self, oracle: Oracle) -> None:
        """Search for it, look where it would be, and give up."""
        word, page = _MISSING[self.parameters["feature"]]
        go(oracle, "Search settings")
        oracle.type("Search settings", word)
        go(oracle, page)
        oracle.do("swipe", direction="up")


TASKS: tuple[type[PhoneTask], ...] = (SetTimeFormat, NamePhone, JoinNetwork, PairDevice, UseMissingFeature)
