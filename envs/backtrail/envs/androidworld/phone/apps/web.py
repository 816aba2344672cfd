"""The browser's data and what tasks do with them: tabs, history, bookmarks, pages that were installed, forms that were sent."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.apps.web_pages import read_page
from backtrail.envs.androidworld.phone.apps.web_sites import NEWS, SITES, WIKI
from backtrail.envs.androidworld.phone.files import SHARED, Files

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "KEY", "START", "close_tab", "current", "forms", "fresh", "full", "install_page", "new_tab", "open_url", "page_at",
    "reload", "short", "tab_with", "visit",
]  # fmt: skip

KEY = "chrome"
START = "chrome://newtab/"
SEARCH = "https://search.example/?q="
DOWNLOADS = f"file://{SHARED}/Download/"

_CHROME_EPOCH = 11_644_473_600  # seconds from 1601, where Chrome's clock begins, to 1970


def fresh() -> Data:
    """Return the data of a browser with one empty tab.

    "tabs" have the entries that were visited in them ("pages": "url", "loads", and "memory", what its puzzles and forms keep)
    and which of them is shown ("at"); "urls" is Chrome's history table, times in microseconds since 1601; "sites" are pages that
    were installed, "forms" what was sent.
    """
    bookmarks = [{"url": NEWS, "title": "The Sarn Courier"}, {"url": WIKI, "title": "Wiki of Sarn"}]
    return {"tabs": [_tab(1, START)], "tab": 1, "bookmarks": bookmarks, "urls": [], "sites": {}, "forms": []}


def install_page(phone: Phone, url: str, page: Data) -> None:
    """Make a page reachable at an address, e.g. "https://shop.example/"."""
    phone.data(KEY)["sites"][url] = page


def forms(phone: Phone, name: str) -> list[dict[str, str]]:
    """Return what was sent with the forms of a name, oldest first."""
    return [sent["values"] for sent in phone.data(KEY)["forms"] if sent["name"] == name]


def open_url(phone: Phone, url: str) -> None:
    """Show an address (or the path of a file) in a new tab, above the present page."""
    if KEY in phone.apps:
        tab = new_tab(phone, full(url))
        phone.hand_over(KEY, "main", tab=tab["id"], at=0)
    else:
        phone.toast("No app can open this")


def new_tab(phone: Phone, url: str = START) -> dict[str, Any]:
    """Add a tab with an address, choose and return it."""
    data = phone.data(KEY)
    tab = _tab(phone.new_id() + 1, url)
    data["tabs"].append(tab)
    data["tab"] = tab["id"]
    _remember(phone, url)
    return tab


def close_tab(phone: Phone, number: int) -> None:
    """Close a tab; without the last one there is a new empty one."""
    data = phone.data(KEY)
    data["tabs"] = [tab for tab in data["tabs"] if tab["id"] != number]
    if not data["tabs"]:
        new_tab(phone)
    elif data["tab"] == number:
        data["tab"] = data["tabs"][-1]["id"]


def tab_with(phone: Phone, number: int) -> dict[str, Any] | None:
    """Return the tab with an id; None if it was closed."""
    return next((tab for tab in phone.data(KEY)["tabs"] if tab["id"] == number), None)


def current(phone: Phone) -> dict[str, Any]:
    """Return the tab that was used last."""
    return tab_with(phone, phone.data(KEY)["tab"]) or phone.data(KEY)["tabs"][-1]


def visit(phone: Phone, url: str) -> None:
    """Go to an address in the present tab; back returns to the page that was shown before."""
    tab, url = current(phone), full(url)
    tab["pages"] = [*tab["pages"][: tab["at"] + 1], _entry(url)]
    tab["at"] += 1
    _remember(phone, url)
    phone.go("main", tab=tab["id"], at=tab["at"])


def reload(phone: Phone) -> None:
    """Load the present page anew: what was entered in it is gone."""
    tab = current(phone)
    entry = tab["pages"][tab["at"]]
    entry["memory"], entry["loads"] = {}, entry["loads"] + 1


def page_at(phone: Phone, url: str) -> Data | None:
    """Return the page at an address; None if it cannot be reached."""
    if url.startswith("file://"):
        path = url.removeprefix("file://")
        content = phone.files.read(path)
        if content is not None and storage.kind(phone, path) == "Image":
            return {"title": posixpath.basename(path), "blocks": [{"kind": "picture", "path": path}]}
        return None if content is None else read_page(content)
    if phone.settings["global"].get("airplane_mode_on") == "1":
        return None
    sites = {**SITES, **phone.data(KEY)["sites"]}
    if url.startswith(SEARCH):
        return _results(url.removeprefix(SEARCH), sites)
    return sites.get(url) or sites.get(f"{url}/")


def full(text: str) -> str:
    """Return the address that a text in the address bar means: an address, the path of a file, or words to search."""
    text = text.strip()
    if text.startswith("/"):
        return f"file://{Files.full(text)}"
    if text.startswith("file://"):
        return f"file://{Files.full(text.removeprefix('file://'))}"
    if "://" in text:
        return text
    if "." in text and " " not in text:
        return f"https://{text}" if "/" in text else f"https://{text}/"
    return f"{SEARCH}{text}"


def short(url: str) -> str:
    """Return an address as the address bar shows it."""
    return "" if url == START else url.removeprefix(SEARCH).removeprefix("https://").removesuffix("/")


def _tab(number: int, url: str) -> dict[str, Any]:
    return {"id": number, "pages": [_entry(url)], "at": 0}


def _entry(url: str) -> dict[str, Any]:
    return {"url": url, "loads": 0, "memory": {}}


def _remember(phone: Phone, url: str) -> None:
    """Write a visit into the history."""
    if url == START:
        return
    page, rows = page_at(phone, url), phone.data(KEY)["urls"]
    row = next((row for row in rows if row["url"] == url), None)
    if row is None:
        row = {"id": phone.new_id(), "url": url, "title": "", "visit_count": 0, "last_visit_time": 0}
        rows.append(row)
    row["title"] = page["title"] if page is not None and page["title"] else short(url)
    row["visit_count"] += 1
    row["last_visit_time"] = (phone.state["now"] + _CHROME_EPOCH) * 1_000_000


def _results(words: str, sites: dict[str, Data]) -> Data:
    """Return a page with links to all pages that have all the words."""
    wanted = words.lower().split()
    blocks: list[Data] = []
    for url, page in sites.items():
        text = " ".join([page["title"], *(block.get("text", "") for block in page["blocks"])]).lower()
        if all(word in text for word in wanted):
            blocks.append({"kind": "link", "text": page["title"], "to": url})
    note = f'Results for "{words}"' if blocks else f'Nothing was found for "{words}"'
    return {"title": f"{words} - Search", "blocks": [{"kind": "heading", "text": note}, *blocks]}
