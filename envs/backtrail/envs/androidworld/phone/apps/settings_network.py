"""Pages of Settings: networks and Bluetooth."""

from __future__ import annotations

from backtrail.envs.androidworld.phone.app import Data
from backtrail.envs.androidworld.phone.apps.asking import open_question
from backtrail.envs.androidworld.phone.apps.settings_parts import rename, toggle
from backtrail.envs.androidworld.phone.apps.settings_values import (
    airplane_mode,
    bluetooth,
    connect,
    get,
    joined,
    network,
    pair,
    set_airplane_mode,
    set_bluetooth,
    set_wifi,
    wifi,
)
from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["bluetooth_page", "device", "devices", "internet", "join", "network_page", "pairing", "wifi_details"]

_SHORTEST = 8  # characters of a password


def network_page(ui: Ui) -> None:
    """Draw ways to the network."""
    phone = ui.phone
    summary = (joined(phone) or "Networks available") if wifi(phone) else "Wi-Fi is off"
    ui.row("Internet", summary, icon="wifi", tap=lambda: phone.go("internet"))
    toggle(ui, "Mobile data", "mobile_data", "T-Mobile", icon="phone")
    toggle(ui, "Roaming", "data_roaming", "Mobile data abroad", icon="globe")
    on = airplane_mode(phone)
    ui.row("Airplane mode", icon="send", switch=on, tap=lambda: set_airplane_mode(phone, not on))


def internet(ui: Ui) -> None:
    """Draw Wi-Fi and its networks."""
    phone, on = ui.phone, wifi(ui.phone)
    ui.row("Wi-Fi", switch=on, tap=lambda: set_wifi(phone, not on))
    ui.line()
    if not on:
        ui.text("Turn on Wi-Fi to see networks.", color=(95, 99, 104))
        return
    for row in sorted(ui.data["networks"], key=lambda row: (not row["connected"], not row["saved"], row["ssid"])):
        state = "Connected" if row["connected"] else "Saved" if row["saved"] else ""
        kind = "Secured" if row["pre_shared_key"] else "Open"
        ui.row(row["ssid"], state or kind, icon="wifi", tap=lambda row=row: _open_network(ui, row))
    ui.row("Add network", icon="add", tap=lambda: phone.go("join", ssid=""))


def _open_network(ui: Ui, row: Data) -> None:
    if row["saved"]:
        ui.phone.go("wifi", ssid=row["ssid"], title="Network details")
    elif row["pre_shared_key"]:
        ui.phone.go("join", ssid=row["ssid"], title=row["ssid"])
    else:
        connect(ui.phone, row["ssid"])


def wifi_details(ui: Ui) -> None:
    """Draw a known network."""
    row = next((row for row in ui.data["networks"] if row["ssid"] == ui.args["ssid"]), network(ui.args["ssid"]))
    connected = row["ssid"] == joined(ui.phone)
    ui.row(row["ssid"], "Connected" if connected else "Saved", icon="wifi")

    def forget() -> None:
        row["saved"] = row["connected"] = False
        ui.phone.close()

    def disconnect() -> None:
        row["connected"] = False

    join = ("Disconnect", disconnect) if connected else ("Connect", lambda: connect(ui.phone, row["ssid"]))
    ui.buttons(join, ("Forget", forget))
    ui.row("Security", "WPA2-Personal" if row["pre_shared_key"] else "None", icon="lock")
    ui.row("Signal strength", "Excellent", icon="star")


def join(ui: Ui) -> None:
    """Draw the form that joins a network."""
    named = ui.args["ssid"]
    ssid = named or ui.field("ssid", "Network name").strip()
    password = ui.field("password", "Password", password=ui.state.get("hidden", True))
    hidden = ui.state.get("hidden", True)
    ui.row("Show password", check=not hidden, tap=lambda: ui.state.update(hidden=not hidden))

    def done() -> None:
        row = next((row for row in ui.data["networks"] if row["ssid"] == ssid), None)
        if row is None:
            row = network(ssid, password)
            ui.data["networks"].append(row)
        if row["pre_shared_key"] != password:
            ui.phone.toast("Check password and try again")
            return
        connect(ui.phone, ssid)
        ui.phone.close()

    fine = bool(ssid) and (len(password) >= _SHORTEST or (not named and not password))
    ui.button("Connect", done, enabled=fine)
    ui.button("Cancel", ui.phone.close, filled=False)


def devices(ui: Ui) -> None:
    """Draw paired devices and the way to Bluetooth."""
    phone = ui.phone
    ui.row("Pair new device", icon="add", tap=lambda: _pair_new(ui))
    ui.line()
    paired = [row for row in ui.data["devices"] if row["paired"]]
    if paired:
        ui.header("Saved devices")
    for row in paired:
        _device_row(ui, row)
    ui.header("Connection preferences")
    ui.row("Bluetooth", "On" if bluetooth(phone) else "Off", icon="bluetooth", tap=lambda: phone.go("bluetooth"))


def _pair_new(ui: Ui) -> None:
    set_bluetooth(ui.phone, True)  # as Android does, so that there is something to find
    ui.phone.go("pair")


def _device_row(ui: Ui, row: Data) -> None:
    state = "Connected" if row["connected"] and bluetooth(ui.phone) else "Saved"
    ui.row(row["name"], state, icon="bluetooth", tap=lambda: ui.phone.go("device", name=row["name"]))


def bluetooth_page(ui: Ui) -> None:
    """Draw the switch of Bluetooth."""
    phone, on = ui.phone, bluetooth(ui.phone)
    ui.row("Use Bluetooth", switch=on, tap=lambda: set_bluetooth(phone, not on))
    ui.line()
    ui.row(
        "Device name",
        get(phone, "bluetooth_name"),
        icon="edit",
        tap=lambda: open_question(ui, "bluetooth_name", get(phone, "bluetooth_name")),
        enabled=on,
    )
    ui.row("Pair new device", icon="add", tap=lambda: _pair_new(ui))
    if on:
        for row in ui.data["devices"]:
            if row["paired"]:
                _device_row(ui, row)
    rename(ui, "bluetooth_name")


def pairing(ui: Ui) -> None:
    """Draw devices within reach."""
    ui.row("Device name", get(ui.phone, "bluetooth_name"))
    ui.header("Available devices")
    if not bluetooth(ui.phone):
        ui.text("Turn on Bluetooth to find devices.")
        return
    for row in ui.data["devices"]:
        if not row["paired"]:
            ui.row(row["name"], icon="bluetooth", tap=lambda row=row: ui.state.update(overlay="pair", name=row["name"]))
    ui.row("Bluetooth address", "44:5E:F3:10:22:00")
    if ui.state.get("overlay") == "pair":
        name = ui.state["name"]

        def done() -> None:
            pair(ui.phone, name)
            ui.phone.close()

        ui.confirm(f"Pair with {name}?", "Pair", done)


def device(ui: Ui) -> None:
    """Draw a paired device."""
    row = next(row for row in ui.data["devices"] if row["name"] == ui.args["name"])
    on = bluetooth(ui.phone)
    ui.row(row["name"], "Connected" if on and row["connected"] else "Not connected", icon="bluetooth")

    def forget() -> None:
        pair(ui.phone, row["name"], False)
        ui.phone.close()

    change = "Disconnect" if row["connected"] else "Connect"
    connecting = ("Connect", None) if not on else (change, lambda: row.update(connected=not row["connected"]))
    ui.buttons(("Forget", lambda: ui.overlay("forget")), connecting)
    ui.row("Bluetooth address", row["address"])
    if ui.state.get("overlay") == "forget":
        ui.confirm(f"Forget {row['name']}?", "Forget device", forget)
