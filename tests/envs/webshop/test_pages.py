"""What pages show: texts, marks, addresses, clickables and HTML."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.shop import Shop
from backtrail.envs.webshop.state import State


def row(asin: str, title: str, **product: Any) -> dict[str, Any]:
    official = {
        "asin": asin,
        "name": title,
        "full_description": "",
        "pricing": "$10.00",
        "images": [],
        "product_category": "Home \u203a Cups",
        "small_description": ["Holds water."],
        "customization_options": "",
        "category": "garden",
        "query": "cups",
    }
    attributes = {"attributes": ["tall"], "instruction": "Find me a tall cup", "instruction_attributes": ["tall"]}
    return {"product": official | product, "attributes": attributes, "human": [], "nouns": ["cup"]}


def values(*texts: str) -> list[dict[str, Any]]:
    return [{"value": text, "is_selected": False, "asin": ""} for text in texts]


ROWS = [
    row(
        "B000000001",
        "Tall cup",
        pricing="$5.00 - $7.50",
        full_description="Made of clay.",
        small_description=["Holds water.", "", "\n", "Stands."],
        customization_options={"Color": values("Red", 'The "Best" Blue'), "Size": values("S", "Color")},
        images=["https://example.org/cup.jpg"],
    ),
    row("B000000002", "  <b>Bold</b> cup & saucer  ", full_description=" \n "),
    *[row(f"B0000001{number:02}", f"Plain cup number {number}") for number in range(12)],
]


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return build(ROWS, tmp_path_factory.mktemp("cups") / "catalogue", nouns="test", label="test")


@pytest.fixture(scope="module")
def shop(catalogue: Catalogue) -> Shop:
    return Shop(catalogue)


def go(shop: Shop, *actions: str) -> State:
    state = shop.start(0, "me")
    for action in actions:
        state, _, _, error = shop.step(state, action)
        assert not error
    return state


TALL = ("search[tall]", "click[b000000001]")


def task(shop: Shop) -> str:
    return shop.goal(0).instruction


def test_search_page(shop: Shop) -> None:
    state = go(shop)
    assert shop.text(state) == f"WebShop [SEP] Instruction: [SEP] {task(shop)} [SEP] Search"
    assert shop.text_rich(state) == f"WebShop\nInstruction: \n{task(shop)}\n[button] Search [button_]\n"
    assert shop.url(state) == "http://127.0.0.1:3000/me"
    assert shop.available(state) == {"has_search_bar": True, "clickables": ["search"]}


def test_results(shop: Shop) -> None:
    state = go(shop, "search[Tall Clay]")
    assert shop.text(state) == (
        f"Instruction: [SEP] {task(shop)} [SEP] Back to Search [SEP] Page 1 (Total results: 1) [SEP] Next > [SEP] "
        "B000000001 [SEP] Tall cup [SEP] $5.0 to $7.5"
    )
    assert shop.url(state) == "http://127.0.0.1:3000/search_results/me/tall+clay/1"
    assert shop.available(state) == {
        "has_search_bar": False,
        "clickables": ["back to search", "next >", "b000000001"],
    }


def test_opened_products_are_marked_until_the_search_page(shop: Shop) -> None:
    assert "\n\n[button] B000000001 [button_]\n" in shop.text_rich(go(shop, TALL[0]))
    assert "\n\n[clicked button] B000000001 [clicked button_]\n" in shop.text_rich(go(shop, *TALL, "search[tall]"))
    assert "[clicked" not in shop.text_rich(go(shop, *TALL, "click[back to search]", "search[tall]"))


def test_ten_products_a_page(shop: Shop) -> None:
    first, second = go(shop, "search[plain]"), go(shop, "search[plain]", "click[next >]")
    assert (len(shop.pages.shown(first)), len(shop.pages.shown(second))) == (10, 2)
    assert set(shop.pages.shown(first)) | set(shop.pages.shown(second)) == set(shop.pages.hits(first))
    assert list(shop.pages.clickables(second))[:3] == ["back to search", "< prev", "next >"]
    past = go(shop, "search[plain]", "click[next >]", "click[next >]")
    assert shop.text(past).endswith("Page 3 (Total results: 12) [SEP] < Prev [SEP] Next >")


def test_product(shop: Shop) -> None:
    state = go(shop, *TALL)
    assert shop.text(state) == (
        f'Instruction: [SEP] {task(shop)} [SEP] Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] the "best" blue '
        "[SEP] size [SEP] s [SEP] color [SEP] Tall cup [SEP] Price: $5.0 to $7.5 [SEP] Rating: N.A. [SEP] Description "
        "[SEP] Features [SEP] Reviews [SEP] Buy Now"
    )
    assert shop.url(state) == "http://127.0.0.1:3000/item_page/me/B000000001/tall/1/{}"
    assert list(shop.pages.clickables(state)) == [
        *("back to search", "< prev", "description", "features", "reviews", "buy now"),
        *("red", 'the "best" blue', "s", "color"),
    ]


def test_chosen_options_show_in_rich_text_only(shop: Shop) -> None:
    before, after = go(shop, *TALL), go(shop, *TALL, "click[red]", "click[s]")
    assert shop.text(before) == shop.text(after)
    assert shop.text_rich(after).startswith("You have clicked s.\nYou have clicked red.\nInstruction:")
    assert "\n  [clicked button] red [clicked button_]\n" in shop.text_rich(after)
    assert shop.url(after).endswith('/tall/1/{"color": "red", "size": "s"}')


def test_only_a_strict_shop_is_wrong_about_what_was_chosen(shop: Shop, catalogue: Catalogue) -> None:
    state = go(shop, *TALL, 'click[the "best" blue]')
    strict = Shop(catalogue, strict=True)
    assert '[clicked button] the "best" blue [clicked button_]' in shop.text_rich(state)
    assert "You have clicked color.\n" in strict.text_rich(
        state
    )  # it is the name of an option, in quotes in the address
    assert '  [button] the "best" blue [button_]' in strict.text_rich(state)


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("description", " [SEP] Made of clay."),
        ("features", " [SEP] Holds water. [SEP]  [SEP] Stands."),  # blank is a space, unless it has a line break
        ("reviews", ""),
    ],
)
def test_pages_about_a_product(shop: Shop, page: str, shown: str) -> None:
    state = go(shop, *TALL, "click[red]", f"click[{page}]")
    assert shop.text(state) == f"Instruction: [SEP] {task(shop)} [SEP] Back to Search [SEP] < Prev{shown}"
    assert shop.url(state).endswith(f"/item_sub_page/me/B000000001/tall/1/{page.title()}/{{'color': 'red'}}")
    assert list(shop.pages.clickables(state)) == ["back to search", "< prev"]


def test_attributes_are_shown_if_wanted(catalogue: Catalogue) -> None:
    shop = Shop(catalogue, show_attributes=True)
    assert "reviews" in shop.pages.clickables(go(shop, *TALL)) and "attributes" in shop.pages.clickables(
        go(shop, *TALL)
    )
    assert shop.text(go(shop, *TALL, "click[attributes]")).endswith(
        "< Prev [SEP] tall [SEP] garden [SEP] cups [SEP] Home \u203a Cups"
    )


def test_receipt(shop: Shop) -> None:
    state = go(shop, *TALL, "click[red]", 'click[the "best" blue]', "click[buy now]")
    assert shop.text(state).startswith(
        "Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] (Paste it in your MTurk interface.) [SEP] "
        'Purchased [SEP] asin [SEP] B000000001 [SEP] options [SEP] {"color": "the \\"best\\" blue"} [SEP] attrs [SEP] None'
    )
    assert shop.text(state).endswith(f"(min 0.0, max 1.0) [SEP] {state.reward} [SEP] Reward Details [SEP] None")
    assert shop.url(state) == "http://127.0.0.1:3000/done/me/B000000001/{'color': 'the \"best\" blue'}"
    assert shop.available(state) == {"has_search_bar": False, "clickables": []}


class Visible(HTMLParser):
    def __init__(self, page: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_escapes_the_catalogue(shop: Shop) -> None:
    page = Visible(shop.html(go(shop, "search[bold saucer]")))
    assert "  <b>Bold</b> cup & saucer  " in page.texts
    assert not [tag for tag, _ in page.tags if tag == "b"]
    radios = [given for tag, given in Visible(shop.html(go(shop, *TALL))).tags if tag == "input"]
    assert [radio["value"] for radio in radios] == ["red", 'the "best" blue', "s", "color"]


def test_html_escapes_what_was_chosen(shop: Shop) -> None:
    hostile = replace(go(shop, *TALL, "click[buy now]"), options=(('"><script>', "</code><script>"),))
    assert "<script>" not in shop.html(hostile)


def test_html_leads_where_it_is_told(shop: Shop) -> None:
    asked: list[str] = []

    def links(action: str) -> str:
        asked.append(action)
        return f"/visit/7?{len(asked)}&<"

    state = go(shop, *TALL, "click[red]")
    page = Visible(shop.html(state, links, stylesheet="/style.css?<"))
    assert sorted(asked) == sorted(shop.admissible(state))
    addresses = [given.get("action") or given.get("data-url") for tag, given in page.tags if tag in ("form", "input")]
    assert sorted(str(address) for address in addresses) == sorted(f"/visit/7?{n + 1}&<" for n in range(len(asked)))
    assert ("link", {"rel": "stylesheet", "href": "/style.css?<"}) in page.tags
    assert [given["value"] for tag, given in page.tags if tag == "input" and "checked" in given] == ["red"]


def test_html_has_a_form_to_search_and_pictures_only_where_there_are_any(shop: Shop) -> None:
    form = [given for tag, given in Visible(shop.html(go(shop))).tags if tag in ("form", "input")]
    assert [given["id"] for given in form] == ["form-buscar", "search_input"] and form[1]["name"] == "search_query"
    pictures = [given for tag, given in Visible(shop.html(go(shop, "search[tall cup saucer]"))).tags if tag == "img"]
    assert [given["src"] for given in pictures if "src" in given] == ["https://example.org/cup.jpg"]
    assert len(pictures) == 10
