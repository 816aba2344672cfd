"""Chrome: the address bar, pages, tabs, history and bookmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import web
from backtrail.envs.androidworld.phone.apps.extras import cut, empty, labelled, when
from backtrail.envs.androidworld.phone.apps.web import (
    START,
    close_tab,
    current,
    new_tab,
    page_at,
    reload,
    short,
    tab_with,
    visit,
)
from backtrail.envs.androidworld.phone.apps.web_blocks import draw_page
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, Do
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Browser"]


class Browser(App):
    """Chrome.

    Pages: "main" (tab, at: which of the pages visited in the tab); "open" (path of a file), which a new tab takes the place of;
    "tabs"; "history"; "bookmarks".
    """

    key = web.KEY
    label = "Chrome"
    volatile = App.volatile | {"last_visit_time"}
    package = "com.android.chrome"
    activity = "com.google.android.apps.chrome.Main"
    icon = "globe"
    tint = (24, 128, 56)

    def fresh(self) -> Data:
        """Return the data of a browser with one empty tab."""
        return web.fresh()

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return "org.chromium.chrome.browser.ChromeTabbedActivity" if page in ("main", "tabs") else self.activity

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        {"main": _main, "open": _opening, "tabs": _tabs, "history": _history, "bookmarks": _bookmarks}[ui.page](ui)

    def tick(self, phone: Phone) -> None:
        """Keep the tab and the phone's back stack together.

        Each page visited in a tab is one page on the stack, so that back goes back; when the browser is opened anew, they are
        laid on the stack again.
        """
        if (phone.top["app"], phone.top["page"]) == (self.key, "open"):
            web.open_url(phone, phone.state["stack"].pop()["args"]["path"])
        top = phone.top
        if (top["app"], top["page"]) != (self.key, "main"):
            return
        tab = tab_with(phone, top["args"].get("tab", 0))
        if tab is None:
            tab = current(phone)
            phone.state["stack"].pop()
            for at in range(tab["at"] + 1):
                phone.hand_over(self.key, "main", tab=tab["id"], at=at)
        phone.data(self.key)["tab"], tab["at"] = tab["id"], phone.top["args"]["at"]


def _shown(ui: Ui) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tab and the visit that the page shows."""
    tab = tab_with(ui.phone, ui.args.get("tab", 0)) or current(ui.phone)
    return tab, tab["pages"][min(ui.args.get("at", tab["at"]), len(tab["pages"]) - 1)]


def _opening(ui: Ui) -> None:
    ui.bar(ui.args["path"])


def _main(ui: Ui) -> None:
    tab, entry = _shown(ui)
    _bar(ui, tab, entry)
    if entry["url"] == START:
        _start(ui)
        return
    page = page_at(ui.phone, entry["url"])
    with ui.scroll("page"):
        if page is None:
            _unreachable(ui, entry["url"])
        else:
            draw_page(ui, page, entry)


def _bar(ui: Ui, tab: dict[str, Any], entry: dict[str, Any]) -> None:
    """Draw the bar: home, address, number of tabs, menu."""
    phone, top, url = ui.phone, ui.top, entry["url"]

    def go() -> None:
        if ui.typed("url_bar").strip():
            visit(phone, ui.typed("url_bar"))

    home = View("ImageButton", (ui.left + 12, top + 15, ui.left + 132, top + 135), description="Go to the home page")
    home.icon, home.color, home.on_tap = "globe", GREY, lambda: visit(phone, START)
    ui.add(home)
    pill = View("FrameLayout", (ui.left + 140, top + 20, ui.right - 270, top + 130), fill=SURFACE, radius=55)
    left, _, right, _ = pill.bounds
    focused = phone.state["focus"] == "url_bar"
    text = ui.typed("url_bar", "" if focused else cut(short(url), 42, right - left - 110))
    box = (left + 20, top + 24, right - 20, top + 126)
    field = View("EditText", box, text, hint="Search or type web address", field="url_bar", focused=focused, size=42)
    field.on_tap, field.resource = go, ui.id("url_bar")
    field.children = [View("View", (box[0], box[3] - 8, box[2], box[3]), fill=SURFACE)]
    pill.children.append(field)
    ui.add(pill)
    count = len(phone.data(web.KEY)["tabs"])
    box = (ui.right - 250, top + 30, ui.right - 160, top + 120)
    tabs = View("FrameLayout", box, description=f"{count} open tab{'s' * (count != 1)}, tap to switch tabs", radius=20)
    tabs.fill, tabs.on_tap, tabs.resource = GREY, lambda: phone.go("tabs"), ui.id("tab_switcher_button")
    inner = (box[0] + 8, box[1] + 8, box[2] - 8, box[3] - 8)
    tabs.children = [View("TextView", inner, str(count), fill=(255, 255, 255), radius=14, size=40, align="center")]
    ui.add(tabs)
    more = View(
        "ImageButton", (ui.right - 140, top + 15, ui.right - 20, top + 135), description="More options", icon="more"
    )
    more.color, more.on_tap = GREY, lambda: ui.overlay("menu")
    ui.add(more)
    ui.top += 150
    if ui.state.get("overlay") == "menu":
        ui.menu(_menu(ui, tab, url))
    ui.line()


def _menu(ui: Ui, tab: dict[str, Any], url: str) -> list[tuple[str, Do]]:
    phone, data = ui.phone, ui.data
    marked = any(mark["url"] == url for mark in data["bookmarks"])

    def mark() -> None:
        page = page_at(phone, url)
        kept = [each for each in data["bookmarks"] if each["url"] != url]
        title = page["title"] if page is not None else short(url)
        data["bookmarks"] = kept if marked else [*kept, {"url": url, "title": title}]
        phone.toast("Bookmark removed" if marked else "Bookmarked")

    def forward() -> None:
        tab["at"] += 1
        phone.go("main", tab=tab["id"], at=tab["at"])

    at = ui.args.get("at", tab["at"])
    entries: list[tuple[str, Do]] = [("Forward", forward)] if at + 1 < len(tab["pages"]) else []
    entries.append(("New tab", lambda: _switch(ui, new_tab(phone)["id"])))
    if url != START:
        entries += [("Reload", lambda: reload(phone)), ("Delete bookmark" if marked else "Bookmark", mark)]
    return [*entries, ("History", lambda: phone.go("history")), ("Bookmarks", lambda: phone.go("bookmarks"))]


def _switch(ui: Ui, number: int) -> None:
    """Show a tab."""
    ui.data["tab"] = number
    ui.phone.open(web.KEY)


def _start(ui: Ui) -> None:
    ui.gap(200)
    ui.text("Chrome", 96, GREY, "center")
    ui.gap(60)
    marks = ui.data["bookmarks"]
    width, top = (ui.right - ui.left) // 4, ui.top
    for place, mark in enumerate(marks[:8]):
        x, y = ui.left + place % 4 * width, top + place // 4 * 270
        name = mark["title"]
        box = (x + 5, y, x + width - 5, y + 240)
        labelled(ui, box, "globe", name, lambda url=mark["url"]: visit(ui.phone, url))
    ui.top = top + 270 * ((len(marks[:8]) + 3) // 4) + 40
    with ui.scroll("downloads"):
        files = [name for name in ui.phone.files.names("/sdcard/Download") if name.endswith((".html", ".json"))]
        if files:
            ui.header("Downloads")
        for name in files:
            ui.row(name, icon="file", tap=lambda name=name: visit(ui.phone, f"{web.DOWNLOADS}{name}"))


def _unreachable(ui: Ui, url: str) -> None:
    offline = ui.phone.settings["global"].get("airplane_mode_on") == "1" and not url.startswith("file://")
    ui.gap(200)
    if offline:
        ui.text("No internet", 64)
        ui.text("Try turning off airplane mode", 42, GREY)
        ui.text("ERR_INTERNET_DISCONNECTED", 36, GREY)
    elif url.startswith("file://"):
        ui.text("Your file couldn't be accessed", 64)
        ui.text("It may have been moved, edited, or deleted.", 42, GREY)
        ui.text("ERR_FILE_NOT_FOUND", 36, GREY)
    else:
        ui.text("This site can't be reached", 64)
        ui.text(f"Check if there is a typo in {short(url)}.", 42, GREY)
        ui.text("ERR_NAME_NOT_RESOLVED", 36, GREY)
    ui.button("Reload", lambda: reload(ui.phone))


# -- tabs, history, bookmarks -----------------------------------------------------------------------------


def _tabs(ui: Ui) -> None:
    phone = ui.phone
    ui.bar("Tabs", ("add", "New tab", lambda: _switch(ui, new_tab(phone)["id"])))
    with ui.scroll():
        for tab in ui.data["tabs"]:
            url = tab["pages"][tab["at"]]["url"]
            page = page_at(phone, url) if url != START else {"title": "New tab"}
            title = page["title"] if page is not None and page["title"] else short(url)
            row = ui.row(
                cut(title, 46, 760), cut(short(url), 36, 700), icon="globe", selected=tab["id"] == ui.data["tab"],
                tap=lambda id=tab["id"]: _switch(ui, id),
            )  # fmt: skip
            _at_end(ui, row, "close", f"Close {title} tab", lambda id=tab["id"]: close_tab(phone, id))


def _at_end(ui: Ui, row: View, icon: str, description: str, tap: Do) -> None:
    """Draw a button at the end of a row."""
    _, top, right, bottom = row.bounds
    box = (right - 150, (top + bottom) // 2 - 60, right - 30, (top + bottom) // 2 + 60)
    row.children.append(View("ImageButton", box, description=description, icon=icon, color=GREY, on_tap=tap))


def _history(ui: Ui) -> None:
    rows = sorted(ui.data["urls"], key=lambda row: (-row["last_visit_time"], -row["id"]))
    ui.bar("History", *([("delete", "Clear browsing data", lambda: ui.overlay("clear"))] if rows else []))
    with ui.scroll():
        for row in rows:
            at = when(ui.phone, row["last_visit_time"] / 1_000_000 - 11_644_473_600)
            line = ui.row(
                cut(row["title"], 46, 800), cut(f"{at}, {short(row['url'])}", 36, 760), icon="globe",
                tap=lambda url=row["url"]: (ui.phone.close(), visit(ui.phone, url)),
            )  # fmt: skip
            _at_end(ui, line, "close", f"Remove {row['title']}", lambda row=row: ui.data["urls"].remove(row))
        if not rows:
            empty(ui, "You'll find your history here", "clock")
    if ui.state.get("overlay") == "clear":
        ui.confirm("Clear the history?", "Clear", lambda: ui.data.update(urls=[]))


def _bookmarks(ui: Ui) -> None:
    marks = ui.data["bookmarks"]
    ui.bar("Bookmarks")
    with ui.scroll():
        for mark in marks:
            row = ui.row(
                cut(mark["title"], 46, 800), cut(short(mark["url"]), 36, 760), icon="star",
                tap=lambda url=mark["url"]: (ui.phone.close(), visit(ui.phone, url)),
            )  # fmt: skip
            _at_end(ui, row, "delete", f"Delete {mark['title']}", lambda mark=mark: marks.remove(mark))
        if not marks:
            empty(ui, "No bookmarks yet", "star")
