"""What the map shows: Liechtenstein and its neighbours by their coordinates, the roads between them, and how far it is.

Coordinates are (latitude, longitude) in degrees. Shapes are drawn by hand after these: good to look at, not to measure.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

__all__ = [
    "BORDER",
    "KINDS",
    "PLACES",
    "RIVERS",
    "ROADS",
    "WOODS",
    "Place",
    "Point",
    "distance",
    "in_words",
    "length",
    "place_at",
    "read_coordinates",
    "road_way",
    "search",
]

Point = tuple[float, float]
"""Latitude and longitude in degrees."""

KINDS = ("Town", "Village", "Hamlet", "Peak", "Castle")
"""From the most to the least important."""

_EARTH = 6_371_008.8  # metres, the mean radius
_NEAR = 1e-5  # degrees, about a metre
_NUMBER = re.compile(r"[-+]?\d{1,3}(?:\.\d+)?")


@dataclass(frozen=True)
class Place:
    """A place with a name.

    Attributes:
        name: Its name.
        kind: One of `KINDS`.
        point: Where it is.
        country: Where that is.
    """

    name: str
    kind: str
    point: Point
    country: str = "Liechtenstein"

    @property
    def about(self) -> str:
        """Kind and country in words."""
        return f"{self.kind}, {self.country}"


PLACES = (
    Place("Vaduz", "Town", (47.1392862, 9.5227962)),
    Place("Schaan", "Town", (47.1663432, 9.5103085)),
    Place("Balzers", "Village", (47.0688832, 9.5061564)),
    Place("Triesen", "Village", (47.106997, 9.5274854)),
    Place("Triesenberg", "Village", (47.1180556, 9.5419444)),
    Place("Eschen", "Village", (47.2106, 9.5222)),
    Place("Mauren", "Village", (47.2189, 9.5428)),
    Place("Gamprin", "Village", (47.2206, 9.5094)),
    Place("Ruggell", "Village", (47.23976, 9.5262837)),
    Place("Schellenberg", "Village", (47.2308, 9.5467)),
    Place("Planken", "Village", (47.1858882, 9.5452201)),
    Place("Nendeln", "Village", (47.1973857, 9.5430636)),
    Place("Bendern", "Village", (47.2122151, 9.5062101)),
    Place("Malbun", "Village", (47.1026191, 9.6083057)),
    Place("Schaanwald", "Village", (47.2165476, 9.5699984)),
    Place("Steg", "Hamlet", (47.1117, 9.5778)),
    Place("Rotenboden", "Hamlet", (47.1275785, 9.5387131)),
    Place("Oberplanken", "Hamlet", (47.1784977, 9.5450163)),
    Place("Gaflei", "Hamlet", (47.1412, 9.5448)),
    Place("Masescha", "Hamlet", (47.1219, 9.5527)),
    Place("Schönberg", "Peak", (47.1303814, 9.5930117)),
    Place("Grauspitz", "Peak", (47.0528, 9.5811)),
    Place("Naafkopf", "Peak", (47.0589, 9.6058)),
    Place("Drei Schwestern", "Peak", (47.1806, 9.5733)),
    Place("Gutenberg Castle", "Castle", (47.0654, 9.5006)),
    Place("Vaduz Castle", "Castle", (47.1395, 9.5247)),
    Place("Buchs", "Town", (47.1667, 9.4667), "Switzerland"),
    Place("Sargans", "Town", (47.0489, 9.4411), "Switzerland"),
    Place("Sevelen", "Village", (47.1211, 9.4869), "Switzerland"),
    Place("Haag", "Village", (47.2099, 9.4889), "Switzerland"),
    Place("Salez", "Village", (47.2361, 9.4986), "Switzerland"),
    Place("Sennwald", "Village", (47.2606, 9.5030), "Switzerland"),
    Place("Maienfeld", "Town", (47.0058, 9.5317), "Switzerland"),
    Place("Feldkirch", "Town", (47.2372, 9.5986), "Austria"),
    Place("Frastanz", "Village", (47.2180, 9.6298), "Austria"),
    Place("Nofels", "Village", (47.2528, 9.5681), "Austria"),
    Place("Nenzing", "Village", (47.1842, 9.7053), "Austria"),
)

ROADS: tuple[tuple[str, tuple[str | Point, ...]], ...] = (
    ("motorway", ("Maienfeld", (47.0300, 9.4830), (47.0480, 9.4620), "Sargans")),
    ("motorway", ("Sargans", (47.0560, 9.4650), (47.0719, 9.4789), (47.0950, 9.4925), "Sevelen", (47.1420, 9.4980),
                  (47.1640, 9.4865), (47.1900, 9.4880), "Haag", (47.2240, 9.4985), "Salez", "Sennwald",
                  (47.2850, 9.5260))),
    ("motorway", ((47.2900, 9.6200), "Feldkirch", "Frastanz", (47.2040, 9.6650), "Nenzing")),
    ("main", ("Balzers", (47.0840, 9.5130), (47.0960, 9.5240), "Triesen", (47.1240, 9.5215), "Vaduz", (47.1530, 9.5150),
              "Schaan", (47.1760, 9.5200), (47.1880, 9.5340), "Nendeln", (47.2080, 9.5540), "Schaanwald",
              (47.2260, 9.5850), "Feldkirch")),
    ("main", ("Schaan", (47.1850, 9.5030), (47.2000, 9.5010), "Bendern", "Gamprin", (47.2290, 9.5190), "Ruggell")),
    ("main", ("Maienfeld", (47.0280, 9.5300), (47.0480, 9.5170), "Balzers")),
    ("road", ("Bendern", (47.2090, 9.5140), "Eschen", (47.2020, 9.5330), "Nendeln")),
    ("road", ("Eschen", (47.2140, 9.5330), "Mauren", (47.2150, 9.5560), "Schaanwald")),
    ("road", ("Mauren", (47.2260, 9.5400), "Schellenberg", (47.2380, 9.5380), "Ruggell")),
    ("road", ("Ruggell", (47.2480, 9.5400), "Nofels", "Feldkirch")),
    ("road", ("Ruggell", (47.2385, 9.5130), "Salez")),
    ("road", ("Bendern", "Haag")),
    ("road", ("Schaan", (47.1655, 9.4930), "Buchs")),
    ("road", ("Vaduz", (47.1330, 9.5100), "Sevelen")),
    ("road", ("Balzers", (47.0690, 9.4900), (47.0719, 9.4789))),
    ("road", ("Buchs", (47.1450, 9.4750), "Sevelen")),
    ("road", ("Triesen", (47.1085, 9.5360), (47.1130, 9.5330), "Triesenberg", (47.1140, 9.5560), (47.1170, 9.5660), "Steg",
              (47.1040, 9.5900), "Malbun")),
    ("road", ("Triesenberg", (47.1230, 9.5360), "Rotenboden", (47.1300, 9.5330), (47.1345, 9.5290), "Vaduz")),
    ("road", ("Triesenberg", "Masescha", (47.1310, 9.5500), "Gaflei")),
    ("road", ("Schaan", (47.1740, 9.5330), "Oberplanken", "Planken")),
    ("road", ("Nendeln", (47.1935, 9.5490), "Planken")),
    ("path", ("Steg", (47.1200, 9.5830), "Schönberg", (47.1180, 9.6010), "Malbun")),
    ("path", ("Planken", (47.1830, 9.5600), "Drei Schwestern")),
    ("path", ("Steg", (47.0950, 9.5760), (47.0700, 9.5850), "Naafkopf", "Grauspitz")),
    ("path", ("Balzers", (47.0670, 9.5030), "Gutenberg Castle")),
    ("path", ("Vaduz", "Vaduz Castle")),
)  # fmt: skip
"""Kind ("motorway", "main", "road" or "path"), and the names of places and the bends that it leads along."""

BORDER: tuple[Point, ...] = (
    (47.2706, 9.5330), (47.2560, 9.5210), (47.2400, 9.5090), (47.2250, 9.5040), (47.2100, 9.4985), (47.1900, 9.4935),
    (47.1660, 9.4925), (47.1500, 9.5010), (47.1330, 9.5080), (47.1120, 9.5065), (47.0950, 9.4990), (47.0760, 9.4880),
    (47.0560, 9.4780), (47.0500, 9.4890), (47.0590, 9.5010), (47.0520, 9.5130), (47.0610, 9.5250), (47.0640, 9.5450),
    (47.0530, 9.5610), (47.0528, 9.5811), (47.0589, 9.6058), (47.0760, 9.6130), (47.0900, 9.6280), (47.1060, 9.6350),
    (47.1280, 9.6230), (47.1480, 9.6200), (47.1560, 9.6000), (47.1720, 9.5880), (47.1806, 9.5733), (47.1990, 9.5800),
    (47.2230, 9.5790), (47.2300, 9.5640), (47.2430, 9.5660), (47.2500, 9.5500), (47.2660, 9.5420),
)  # fmt: skip
"""Of Liechtenstein."""

RIVERS: tuple[tuple[str, tuple[Point, ...]], ...] = (
    ("Rhine", ((46.9900, 9.5000), (47.0200, 9.4800), (47.0560, 9.4780), (47.0760, 9.4880), (47.0950, 9.4990),
               (47.1120, 9.5065), (47.1330, 9.5080), (47.1500, 9.5010), (47.1660, 9.4925), (47.1900, 9.4935),
               (47.2100, 9.4985), (47.2250, 9.5040), (47.2400, 9.5090), (47.2560, 9.5210), (47.2706, 9.5330),
               (47.3100, 9.5700))),
    ("Samina", ((47.0700, 9.5900), (47.0900, 9.5790), (47.1117, 9.5800), (47.1400, 9.6060), (47.1800, 9.6120),
                (47.2160, 9.6260))),
    ("Ill", ((47.1700, 9.7400), (47.1900, 9.6900), (47.2200, 9.6350), (47.2400, 9.5990), (47.2700, 9.5700),
             (47.2900, 9.5500))),
)  # fmt: skip

WOODS: tuple[tuple[Point, ...], ...] = (
    ((47.0760, 9.5220), (47.0980, 9.5400), (47.1080, 9.5480), (47.1020, 9.5700), (47.0800, 9.5680), (47.0640, 9.5480)),
    ((47.1330, 9.5360), (47.1600, 9.5260), (47.1750, 9.5380), (47.1740, 9.5640), (47.1500, 9.5800), (47.1380, 9.5620)),
    ((47.1910, 9.5520), (47.2060, 9.5640), (47.2040, 9.5780), (47.1860, 9.5720)),
    ((47.2120, 9.5290), (47.2270, 9.5300), (47.2300, 9.5380), (47.2210, 9.5420)),
    ((47.1180, 9.5900), (47.1250, 9.6130), (47.1130, 9.6200), (47.1090, 9.5960)),
    ((47.1000, 9.4400), (47.1300, 9.4480), (47.1500, 9.4500), (47.1520, 9.4300), (47.1000, 9.4200)),
    ((47.1800, 9.6300), (47.2050, 9.6400), (47.1950, 9.6600), (47.1600, 9.6700), (47.1500, 9.6400)),
)  # fmt: skip


# -- finding ----------------------------------------------------------------------------------------------


def search(words: str, kind: str = "") -> list[Place]:
    """Return the places whose name or country has words that begin with each of the words: first those called so.

    Args:
        words: As typed; commas do not matter.
        kind: One of `KINDS` to have these alone.
    """
    wanted = words.lower().replace(",", " ").split()
    found = [each for each in PLACES if not kind or each.kind == kind]
    found = [each for each in found if all(_begins(each, word) for word in wanted)]
    first = wanted[0] if wanted else ""
    return sorted(found, key=lambda each: (not each.name.lower().startswith(first), KINDS.index(each.kind), each.name))


def _begins(place: Place, word: str) -> bool:
    return any(each.startswith(word) for each in f"{place.name} {place.country}".lower().split())


def read_coordinates(words: str) -> Point | None:
    """Return the latitude and longitude that a text consists of, e.g. "47.1, 9.52"; None if it is anything else."""
    parts = words.replace(",", " ").split()
    if len(parts) != 2 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    latitude, longitude = float(parts[0]), float(parts[1])
    return (latitude, longitude) if abs(latitude) <= 85 and abs(longitude) <= 180 else None


def place_at(point: Point) -> Place | None:
    """Return the place that is just there; None if there is none."""
    near = (each for each in PLACES if all(abs(a - b) < _NEAR for a, b in zip(each.point, point, strict=True)))
    return next(near, None)


def in_words(point: Point) -> str:
    """Return coordinates with five decimal places, e.g. "47.10700, 9.52749"."""
    return f"{point[0]:.5f}, {point[1]:.5f}"


# -- distances --------------------------------------------------------------------------------------------


def distance(one: Point, other: Point) -> float:
    """Return the distance of two points in metres, by the haversine formula."""
    a, b, c, d = (math.radians(value) for value in (*one, *other))
    share = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * _EARTH * math.asin(math.sqrt(share))


def length(points: Sequence[Point]) -> float:
    """Return the length of a line in metres."""
    return sum(distance(*pair) for pair in pairwise(points))


def road_way(start: Point, end: Point) -> list[Point]:
    """Return the shortest way along roads and paths; to the nearest bend of one, and from the last, it goes straight."""
    roads = _roads()
    first, last = _nearest(roads, start), _nearest(roads, end)
    open_ends: list[tuple[float, Point, tuple[Point, ...]]] = [(0.0, first, (first,))]
    seen: set[Point] = set()
    while open_ends:
        metres, here, way = heapq.heappop(open_ends)
        if here == last:
            return list(dict.fromkeys((start, *way, end)))
        if here not in seen:
            seen.add(here)
            for there in roads[here]:
                heapq.heappush(open_ends, (metres + distance(here, there), there, (*way, there)))
    return [start, end]


@lru_cache(maxsize=1)
def _roads() -> dict[Point, list[Point]]:
    named = {place.name: place.point for place in PLACES}
    found: dict[Point, list[Point]] = {}
    for _, stops in ROADS:
        points = [named[stop] if isinstance(stop, str) else stop for stop in stops]
        for one, other in pairwise(points):
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
    return found


def _nearest(points: Iterable[Point], to: Point) -> Point:
    return min(points, key=lambda point: (distance(point, to), point))
