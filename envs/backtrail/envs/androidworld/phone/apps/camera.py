"""The camera: photos and videos become files that say what they show."""

from __future__ import annotations

import json
import posixpath

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.device import Phone
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import Bounds, View

__all__ = ["PHOTOS", "VIDEOS", "Camera", "photos", "record_video", "take_photo", "videos"]

PHOTOS = f"{SHARED}/Pictures"
"""Where photos are."""

VIDEOS = f"{SHARED}/Movies"
"""Where videos are."""

_DARK = (24, 26, 28)
_FLASH = ("off", "auto", "on")
_SCENES = {
    "back": ("a window and a tree", (150, 190, 225), (92, 120, 80)),
    "front": ("a face", (214, 198, 184), (90, 74, 66)),
}


def photos(phone: Phone) -> list[str]:
    """Return the paths of the photos that the camera took, oldest first."""
    return _taken(phone, PHOTOS, "IMG_")


def videos(phone: Phone) -> list[str]:
    """Return the paths of the videos that the camera took, oldest first."""
    return _taken(phone, VIDEOS, "VID_")


def _taken(phone: Phone, folder: str, prefix: str) -> list[str]:
    return [f"{folder}/{name}" for name in phone.files.names(folder) if name.startswith(prefix)]


def take_photo(phone: Phone) -> str:
    """Take a photo and return its path."""
    data = phone.data("camera")
    path = _free(phone, f"{PHOTOS}/IMG_{phone.now:%Y%m%d_%H%M%S}", ".jpg")
    _keep(phone, path, {"type": "photo", "flash": data["flash"]})
    return path


def record_video(phone: Phone, seconds: int) -> str:
    """Keep a video of so many seconds that ends now, and return its path."""
    path = _free(phone, f"{VIDEOS}/VID_{phone.now:%Y%m%d_%H%M%S}", ".mp4")
    _keep(phone, path, {"type": "video", "duration": seconds})
    return path


def _free(phone: Phone, stem: str, ending: str) -> str:
    """Return a path that is not taken; files of the same second are numbered."""
    path, number = stem + ending, 0
    while phone.files.exists(path):
        number += 1
        path = f"{stem}_{number}{ending}"
    return path


def _keep(phone: Phone, path: str, more: Data) -> None:
    data = phone.data("camera")
    about = {"taken": phone.now.isoformat(), "camera": data["facing"], "shows": _SCENES[data["facing"]][0], **more}
    phone.files.write(path, json.dumps(about))
    data["last"] = path


class Camera(App):
    """The camera."""

    key = "camera"
    label = "Camera"
    package = "com.android.camera2"
    activity = "com.android.camera.CameraLauncher"
    icon = "camera"
    tint = (60, 64, 67)

    def fresh(self) -> Data:
        """Return the camera's data on a new phone; "since" is when a video began, 0 for none."""
        return {"mode": "Photo", "facing": "back", "flash": "off", "grid": False, "since": 0, "last": ""}

    def tick(self, phone: Phone) -> None:
        """End a video when another app is shown."""
        if phone.data(self.key)["since"] and phone.top["app"] != self.key:
            _end(phone)

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "view":
            _view(ui)
        else:
            _main(ui)


def _end(phone: Phone) -> None:
    data = phone.data("camera")
    record_video(phone, phone.state["now"] - data["since"])
    data["since"] = 0


def _main(ui: Ui) -> None:
    data, phone = ui.data, ui.phone
    ui.background(_DARK)
    since = data["since"]
    if since:
        seconds = phone.state["now"] - since
        box = (ui.left, ui.top + 20, ui.right, ui.top + 120)
        ui.add(
            View(
                "TextView",
                box,
                f"{seconds // 60:02d}:{seconds % 60:02d}",
                color=(255, 90, 80),
                align="center",
                size=56,
                resource=ui.id("recording_time"),
            )
        )
    else:
        _options(ui)
    frame = (ui.left, ui.top + 140, ui.right, ui.bottom - 560)
    _scene(ui, frame)
    if not since:
        _modes(ui, frame[3])
    _controls(ui, frame[3] + 190)


def _options(ui: Ui) -> None:
    """Draw flash and grid."""
    data = ui.data
    following = _FLASH[(_FLASH.index(data["flash"]) + 1) % len(_FLASH)]
    for place, (icon, words, tap) in enumerate(
        (
            ("sun", f"Flash {data['flash']}", lambda: data.update(flash=following)),
            ("app", f"Grid lines {'on' if data['grid'] else 'off'}", lambda: data.update(grid=not data["grid"])),
        )
    ):
        box = (ui.left + 40 + 520 * place, ui.top + 10, ui.left + 520 + 520 * place, ui.top + 130)
        cell = ui.add(View("FrameLayout", box, description=words, on_tap=tap))
        cell.children = [
            View("ImageView", (box[0], box[1], box[0] + 120, box[3]), icon=icon, color=WHITE),
            View("TextView", (box[0] + 120, box[1], box[2], box[3]), words, color=WHITE, size=38),
        ]


def _scene(ui: Ui, frame: Bounds) -> None:
    """Draw what the camera sees."""
    left, top, right, bottom = frame
    _, sky, ground = _SCENES[ui.data["facing"]]
    middle, horizon = (left + right) // 2, top + (bottom - top) * 2 // 3
    view = ui.add(View("FrameLayout", frame, description="Viewfinder", fill=sky, resource=ui.id("preview_content")))
    if ui.data["facing"] == "back":
        view.children = [
            View("View", (left, horizon, right, bottom), fill=ground),
            View("View", (middle + 120, horizon - 330, middle + 165, horizon + 60), fill=(110, 82, 60)),
            View("View", (middle, horizon - 620, middle + 290, horizon - 300), fill=(70, 130, 80), radius=150),
            View("View", (left + 120, top + 140, left + 320, top + 340), fill=(250, 226, 130), radius=100),
        ]
    else:
        view.children = [
            View("View", (middle - 420, horizon + 190, middle + 420, bottom), fill=(70, 96, 140), radius=200),
            View("View", (middle - 80, horizon, middle + 80, horizon + 190), fill=(222, 178, 150)),
            View("View", (middle - 220, horizon - 520, middle + 220, horizon + 120), fill=(236, 196, 168), radius=220),
            View("View", (middle - 220, horizon - 560, middle + 220, horizon - 360), fill=ground, radius=100),
        ]
    if ui.data["grid"]:
        for share in (1, 2):
            x, y = left + (right - left) * share // 3, top + (bottom - top) * share // 3
            view.children.append(View("View", (x, top, x + 3, bottom), fill=WHITE))
            view.children.append(View("View", (left, y, right, y + 3), fill=WHITE))


def _modes(ui: Ui, top: int) -> None:
    for place, mode in enumerate(("Photo", "Video")):
        on = ui.data["mode"] == mode
        box = (240 + 300 * place, top + 40, 540 + 300 * place, top + 150)
        ui.add(
            View(
                "TextView",
                box,
                mode,
                on_tap=lambda mode=mode: ui.data.update(mode=mode),
                selected=on,
                align="center",
                color=_DARK if on else WHITE,
                fill=(232, 234, 237) if on else None,
                radius=50,
            )
        )


def _controls(ui: Ui, top: int) -> None:
    data, phone = ui.data, ui.phone
    recording, video = bool(data["since"]), data["mode"] == "Video"

    def shoot() -> None:
        if recording:
            _end(phone)
        elif video:
            data["since"] = phone.state["now"]
        else:
            take_photo(phone)

    words = "Stop recording" if recording else "Start recording" if video else "Shutter"
    red = (217, 48, 37)
    ui.add(
        View(
            "ImageButton",
            (430, top, 650, top + 220),
            description=words,
            icon="stop" if recording else "camera",
            on_tap=shoot,
            fill=red if video else WHITE,
            color=WHITE if video else _DARK,
            radius=110,
            size=80,
            resource=ui.id("shutter_button"),
        )
    )
    if recording:
        return
    other = "front" if data["facing"] == "back" else "back"
    ui.add(
        View(
            "ImageButton",
            (800, top + 30, 960, top + 190),
            description=f"Switch to {other} camera",
            icon="person",
            on_tap=lambda: data.update(facing=other),
            fill=(60, 64, 67),
            color=WHITE,
            radius=80,
            resource=ui.id("camera_toggle_button"),
        )
    )
    if data["last"] and phone.files.exists(data["last"]):
        icon = "play" if data["last"].endswith(".mp4") else "picture"
        ui.add(
            View(
                "ImageButton",
                (120, top + 30, 280, top + 190),
                description="Last photo or video",
                icon=icon,
                on_tap=lambda: phone.go("view"),
                fill=(150, 190, 225),
                color=WHITE,
                radius=20,
                size=70,
                resource=ui.id("rounded_thumbnail_view"),
            )
        )


def _view(ui: Ui) -> None:
    """Draw the last photo or video."""
    path = ui.data["last"]
    about = _read(ui.phone, path)

    def delete() -> None:
        ui.phone.files.remove(path)
        ui.data["last"] = ""
        ui.phone.close()

    ui.bar(posixpath.basename(path), ("delete", "Delete", lambda: ui.overlay("delete")))
    frame = (ui.left, ui.top, ui.right, ui.bottom - 420)
    video = about.get("type") == "video"
    ui.add(
        View(
            "ImageView",
            frame,
            description=f"{'Video' if video else 'Photo'} of {about.get('shows', 'something')}",
            icon="play" if video else "picture",
            fill=(150, 190, 225),
            color=WHITE,
            size=300,
        )
    )
    ui.top = ui.bottom - 410
    ui.row("Path", path[len(SHARED) + 1 :], icon="folder")
    duration = f" - {about['duration']} seconds" if video else ""
    ui.row("Taken", f"{about.get('taken', '')[:19].replace('T', ' ')}{duration}", icon="clock")
    if ui.state.get("overlay") == "delete":
        ui.confirm(f"Delete this {'video' if video else 'photo'}?", "Delete", delete)


def _read(phone: Phone, path: str) -> Data:
    """Return what a file says about its picture; nothing if it was replaced by something else."""
    try:
        about = json.loads(phone.files.read(path) or "{}")
    except json.JSONDecodeError:
        return {}
    return about if isinstance(about, dict) else {}
