"""Pictures of products: valid, small, complete in themselves, and safe with any title."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs.webshop.families import KINDS
from backtrail.envs.webshop.generate import rows
from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.loader import listings
from backtrail.envs.webshop.picture import picture
from backtrail.envs.webshop.wares import COLORS


@cache
def products() -> list[Product]:
    return [listing.product for _, listing in listings(rows(1000))]


def test_a_picture_is_small_valid_and_complete_in_itself():
    seen = set()
    for product in products():
        drawn = picture(product)
        assert picture(product) == drawn
        root = ElementTree.fromstring(drawn)
        assert root.findtext("{http://www.w3.org/2000/svg}title") == product.title
        assert len(drawn) < 4000
        assert not re.search(r"href|url\(|script", drawn)
        seen.add(re.sub(r"#[0-9a-f]{6}|<title>.*?</title>", "", drawn))
    assert len(seen) == len({kind.icon for kinds in KINDS.values() for kind in kinds})


def test_a_picture_shows_the_color_on_offer():
    product = next(each for each in products() if each.query == "women's dresses")
    red, teal = (replace(product, options=(("color", (color,)),)) for color in ("red", "teal"))
    assert COLORS["red"] in picture(red)
    assert COLORS["teal"] in picture(teal)


@given(st.text(), st.text(), st.text(max_size=10), st.text(max_size=10))
def test_any_product_has_a_picture_and_cannot_smuggle_markup_into_it(title: str, query: str, code: str, category: str):
    product = replace(products()[0], title=title + "<script>&\"'", query=query, asin=code, category=category)
    drawn = picture(product)
    assert drawn.count("<title>") == 1
    assert "<script" not in drawn
