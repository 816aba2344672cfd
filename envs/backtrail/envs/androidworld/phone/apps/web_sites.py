"""The little web that the phone can reach without a network: news and an encyclopedia of places that do not exist."""

from __future__ import annotations

from backtrail.envs.androidworld.phone.app import Data

__all__ = ["NEWS", "SITES", "WIKI"]

NEWS, WIKI = "https://news.example/", "https://wiki.example/"

_ARTICLES = {
    "bridge": (
        "Harbour bridge reopens after repairs",
        "The harbour bridge of Port Ellery carries traffic again after 14 months of repairs.",
        "The work cost 38 million crowns, four million less than planned. Engineer Mara Lindqvist led a team of 120 people.",
        "Buses on line 7 take their old route again from Monday.",
    ),
    "orchard": (
        "School plants an orchard of 200 trees",
        "Pupils of Tallow Hill School have planted 200 apple and pear trees behind the sports field.",
        "The first apples are expected in four years. A local farm gave the trees for free.",
    ),
    "museum": (
        "Clock museum extends opening hours",
        "The clock museum in Brackwater is now open until 9 pm on Thursdays.",
        "Entry costs 6 crowns; children under 12 pay nothing. The oldest clock of the collection dates from 1543.",
    ),
    "storm": (
        "Storm leaves 3,000 homes without power",
        "A storm on Friday night cut the power to 3,000 homes in the Vessel Valley.",
        "Repair crews from three counties worked until Sunday. Nobody was hurt.",
    ),
    "chess": (
        "Student of 16 wins national chess title",
        "Vera Okoro, 16, won the national chess championship with 9 points out of 11.",
        "She is the youngest winner in the 74 years of the tournament.",
    ),
}

_ENTRIES = {
    "Port Ellery": (
        "Port Ellery is a town on the west coast of the island of Sarn.",
        "Population: 48,200. Founded: 1687. Elevation: 12 metres. Mayor: Oskar Venn.",
        "Its harbour is the largest of the island. The town is known for its fish market and the harbour bridge of 1931.",
    ),
    "Brackwater": (
        "Brackwater is a town in the north of Sarn, on the river Ebble.",
        "Population: 9,340. Founded: 1742. Elevation: 210 metres. Mayor: Lena Abara.",
        "The clock museum has more than 800 clocks. Watches were made here until 1968.",
    ),
    "Mount Corrow": (
        "Mount Corrow is the highest mountain of Sarn.",
        "Height: 2,914 metres. First climbed: 1859, by Ada Fenwick and Tomas Reil.",
        "A hut at 1,950 metres is open from June to September.",
    ),
    "Ebble": (
        "The Ebble is the longest river of Sarn.",
        "Length: 163 kilometres. Source: Mount Corrow. Mouth: the bay of Port Ellery.",
        "Salmon returned to the river in 2004.",
    ),
    "Sarn": (
        "Sarn is an island state with two large towns, Port Ellery and Brackwater.",
        "Area: 7,450 square kilometres. Population: 312,000. Currency: crown. Official languages: Sarnish and English.",
        "National day: 3 May.",
    ),
    "Sarnish tea bread": (
        "Sarnish tea bread is a sweet bread that is eaten on the national day.",
        "Ingredients: 500 g flour, 250 g raisins, 2 eggs, 150 ml strong tea. Baking time: 55 minutes.",
    ),
}


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def _page(title: str, texts: tuple[str, ...], home: tuple[str, str], others: list[tuple[str, str]]) -> Data:
    blocks = [{"kind": "heading", "text": title}, *({"kind": "text", "text": text} for text in texts)]
    if others:
        blocks.append({"kind": "heading", "text": "See also"})
    blocks += [{"kind": "link", "text": text, "to": to} for text, to in others]
    blocks.append({"kind": "link", "text": home[0], "to": home[1]})
    return {"title": title, "blocks": blocks}


def _news() -> dict[str, Data]:
    links = [{"kind": "link", "text": texts[0], "to": f"{NEWS}{name}"} for name, texts in _ARTICLES.items()]
    letter = {
        "kind": "form", "name": "newsletter", "fields": [{"name": "email", "hint": "E-mail address", "required": True}],
        "submit": "Subscribe", "thanks": "Thank you for subscribing.",
    }  # fmt: skip
    blocks = [
        {"kind": "heading", "text": "The Sarn Courier"},
        {"kind": "text", "text": "News from the island, every day"},
        *links,
        {"kind": "heading", "text": "Newsletter"},
        letter,
    ]
    pages = {NEWS: {"title": "The Sarn Courier", "blocks": blocks}}
    for name, (title, *texts) in _ARTICLES.items():
        pages[f"{NEWS}{name}"] = _page(title, tuple(texts), ("All news", NEWS), [])
    return pages


def _wiki() -> dict[str, Data]:
    links = [{"kind": "link", "text": name, "to": f"{WIKI}{_slug(name)}"} for name in sorted(_ENTRIES)]
    blocks = [{"kind": "heading", "text": "Wiki of Sarn"}, {"kind": "text", "text": "All articles"}, *links]
    pages = {WIKI: {"title": "Wiki of Sarn", "blocks": blocks}}
    for name, texts in _ENTRIES.items():
        others = [(o, f"{WIKI}{_slug(o)}") for o in _ENTRIES if o != name and any(o in text for text in texts)]
        pages[f"{WIKI}{_slug(name)}"] = _page(name, texts, ("All articles", WIKI), others)
    return pages


SITES: dict[str, Data] = {**_news(), **_wiki()}
"""Pages by address."""
