"""The data of the map app: favourites and tracks in GPX files, map markers as rows of the table ``map_markers``."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.apps.osmand_places import Point
from backtrail.envs.androidworld.phone.files import SHARED

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "DEFAULT",
    "FAVORITES",
    "KEY",
    "TRACKS",
    "Favorite",
    "Marker",
    "add_favorite",
    "add_marker",
    "clear_markers",
    "delete_favorite",
    "delete_marker",
    "delete_track",
    "favorite_at",
    "favorites",
    "groups",
    "marker_at",
    "markers",
    "pass_marker",
    "rename_track",
    "save_track",
    "set_up",
    "track",
    "tracks",
    "wrong_track_name",
]

KEY = "osmand"

_HOME = f"{SHARED}/Android/data/net.osmand/files"

FAVORITES = f"{_HOME}/favorites"
"""One file for each group: favorites.gpx for `DEFAULT`, favorites-NAME.gpx for others."""
TRACKS = f"{_HOME}/tracks"

DEFAULT = "Favorites"
"""The group of a favourite that was put into no other."""

Favorite = dict[str, Any]
"""name, latitude, longitude, group, description."""
Marker = dict[str, Any]
"""Columns of ``map_markers``: marker_id, marker_lat, marker_lon, title and marker_description (both the place's name),
marker_active (1, or 0 when it was passed), marker_added and marker_visited in milliseconds; the others stay empty."""

_NEAR = 1e-5  # degrees, about a metre
_SPACE = "{http://www.topografix.com/GPX/1/1}"
_HEAD = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"
    '<gpx version="1.1" creator="OsmAnd 4.6.13" xmlns="http://www.topografix.com/GPX/1/1"'
    ' xmlns:osmand="https://osmand.net">\n'
)


def set_up(phone: Phone) -> None:
    """Make the folders of the app."""
    phone.files.make(FAVORITES)
    phone.files.make(TRACKS)


# -- favourites -------------------------------------------------------------------------------------------


def favorites(phone: Phone) -> list[Favorite]:
    """Return all favourites by group and name, the default group first."""
    found = [row for name in phone.files.names(FAVORITES) for row in _favorites_in(phone, name)]
    return sorted(found, key=lambda row: (row["group"] != DEFAULT, row["group"].lower(), row["name"].lower()))


def groups(phone: Phone) -> list[str]:
    """Return the groups of the favourites, the default one first."""
    return list(dict.fromkeys([DEFAULT, *(row["group"] for row in favorites(phone))]))


def favorite_at(phone: Phone, point: Point) -> Favorite | None:
    """Return the favourite that is just there; None if there is none."""
    return next((row for row in favorites(phone) if _near(point, (row["latitude"], row["longitude"]))), None)


def add_favorite(phone: Phone, name: str, point: Point, group: str = DEFAULT, description: str = "") -> None:
    """Add a favourite."""
    row = {
        "name": name,
        "latitude": point[0],
        "longitude": point[1],
        "group": group or DEFAULT,
        "description": description,
    }
    path = _group_file(row["group"])
    _write_favorites(phone, path, [*_favorites_in(phone, posixpath.basename(path)), row])


def delete_favorite(phone: Phone, favorite: Favorite) -> None:
    """Delete a favourite."""
    path = _group_file(favorite["group"])
    rows = _favorites_in(phone, posixpath.basename(path))
    if favorite in rows:
        rows.remove(favorite)
        _write_favorites(phone, path, rows)


def _group_file(group: str) -> str:
    return f"{FAVORITES}/favorites.gpx" if group == DEFAULT else f"{FAVORITES}/favorites-{group}.gpx"


def _favorites_in(phone: Phone, name: str) -> list[Favorite]:
    if not name.startswith("favorites") or not name.endswith(".gpx"):
        return []
    group = name[len("favorites-") : -len(".gpx")] or DEFAULT
    rows = []
    for each in _parsed(phone.files.read(f"{FAVORITES}/{name}") or "").findall(f"{_SPACE}wpt"):
        point = _point(each)
        if point is not None:
            words = {tag: each.findtext(f"{_SPACE}{tag}") or "" for tag in ("name", "desc")}
            row = {"name": words["name"], "latitude": point[0], "longitude": point[1], "group": group}
            rows.append({**row, "description": words["desc"]})
    return rows


def _write_favorites(phone: Phone, path: str, rows: Sequence[Favorite]) -> None:
    if not rows and path != _group_file(DEFAULT):
        storage.remove(phone, path)
        return
    lines = [_HEAD]
    for row in rows:
        lines.append(f"  <wpt{_at((row['latitude'], row['longitude']))}>\n")
        kind = "" if row["group"] == DEFAULT else row["group"]
        for tag, text in (("name", row["name"]), ("desc", row["description"]), ("type", kind)):
            lines += [f"    <{tag}>{_clean(text)}</{tag}>\n"] if text else []
        lines.append("    <extensions>\n      <osmand:icon>special_star</osmand:icon>\n    </extensions>\n  </wpt>\n")
    storage.write(phone, path, "".join([*lines, "</gpx>\n"]))


# -- tracks -----------------------------------------------------------------------------------------------


def tracks(phone: Phone) -> list[str]:
    """Return the names of all tracks, sorted."""
    names = phone.files.names(TRACKS)
    return [name[: -len(".gpx")] for name in names if name.endswith(".gpx")]


def track(phone: Phone, name: str) -> list[Point]:
    """Return the points of a track; [] if there is none."""
    root = _parsed(phone.files.read(f"{TRACKS}/{name}.gpx") or "")
    way = "/".join(f"{_SPACE}{tag}" for tag in ("trk", "trkseg", "trkpt"))
    return [point for point in map(_point, root.findall(way)) if point is not None]


def save_track(phone: Phone, name: str, points: Sequence[Point]) -> None:
    """Write a track, in the place of one of this name."""
    inner = "".join(f"      <trkpt{_at(point)} />\n" for point in points)
    about = f"  <metadata>\n    <name>{_clean(name)}</name>\n  </metadata>\n"
    body = f"  <trk>\n    <name>{_clean(name)}</name>\n    <trkseg>\n{inner}    </trkseg>\n  </trk>\n"
    storage.write(phone, f"{TRACKS}/{name}.gpx", f"{_HEAD}{about}{body}</gpx>\n")


def wrong_track_name(phone: Phone, name: str) -> str:
    """Return what is wrong with a name for a new track; "" if nothing."""
    return storage.wrong_name(phone, TRACKS, f"{name}.gpx" if name.strip() else "")


def rename_track(phone: Phone, name: str, to: str) -> None:
    """Give a track another name, also inside its file."""
    points = track(phone, name)
    delete_track(phone, name)
    save_track(phone, to, points)


def delete_track(phone: Phone, name: str) -> None:
    """Delete a track."""
    storage.remove(phone, f"{TRACKS}/{name}.gpx")


# -- markers ----------------------------------------------------------------------------------------------


def markers(phone: Phone, active: bool = True) -> list[Marker]:
    """Return the markers that are to be visited, or those that were passed; the newest first."""
    rows = [row for row in phone.data(KEY)["map_markers"] if bool(row["marker_active"]) is active]
    return sorted(rows, key=lambda row: (row["marker_added"] or 0, row["marker_id"]), reverse=True)


def marker_at(phone: Phone, point: Point) -> Marker | None:
    """Return the active marker that is just there; None if there is none."""
    rows = (row for row in markers(phone) if None not in _place(row))
    return next((row for row in rows if _near(point, _place(row))), None)


def add_marker(phone: Phone, name: str, point: Point) -> None:
    """Add a marker."""
    row: Marker = {
        "marker_id": f"{phone.new_id():08}", "marker_lat": point[0], "marker_lon": point[1], "marker_description": name,
        "marker_active": 1, "marker_added": 1000 * phone.state["now"], "marker_visited": 0, "group_name": "",
        "group_key": "", "marker_color": 0, "marker_next_key": "", "marker_disabled": 0, "marker_selected": 0,
        "marker_map_object_name": "", "title": name,
    }  # fmt: skip
    phone.data(KEY)["map_markers"].append(row)


def pass_marker(phone: Phone, marker: str, passed: bool = True) -> None:
    """Move a marker to the history, or back."""
    for row in phone.data(KEY)["map_markers"]:
        if row["marker_id"] == marker:
            row.update(marker_active=int(not passed), marker_visited=1000 * phone.state["now"] if passed else 0)


def delete_marker(phone: Phone, marker: str) -> None:
    """Delete a marker."""
    data = phone.data(KEY)
    data["map_markers"] = [row for row in data["map_markers"] if row["marker_id"] != marker]


def clear_markers(phone: Phone, active: bool) -> None:
    """Delete the markers of the history, or move all that are active there."""
    for row in markers(phone, active):
        if active:
            pass_marker(phone, row["marker_id"])
        else:
            delete_marker(phone, row["marker_id"])


def _place(row: Marker) -> Point:
    return row["marker_lat"], row["marker_lon"]


# -- GPX --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _parsed(text: str) -> ElementTree.Element:
    """Return the root of a file; one without anything in it if the text is no XML."""
    try:
        return ElementTree.fromstring(text.encode())
    except (ElementTree.ParseError, ValueError, LookupError):  # the last two: an encoding that is not there
        return ElementTree.Element("gpx")


def _point(element: ElementTree.Element) -> Point | None:
    try:
        latitude, longitude = float(element.get("lat", "")), float(element.get("lon", ""))
    except ValueError:
        return None
    return (latitude, longitude) if abs(latitude) <= 85 and abs(longitude) <= 180 else None


def _at(point: Point) -> str:
    return f" lat={quoteattr(f'{point[0]:.7f}')} lon={quoteattr(f'{point[1]:.7f}')}"


def _clean(text: str) -> str:
    return escape("".join(each for each in text if each.isprintable() or each == "\n"))


def _near(one: Point, other: Point) -> bool:
    return all(abs(a - b) < _NEAR for a, b in zip(one, other, strict=True))
