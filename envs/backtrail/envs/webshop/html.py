"""The pages as HTML, for observation mode "html" and for a browser.

They have the structure that agents for the original rely on (ids, classes, radio buttons, visible text and its order), in
markup of our own. Everything from the catalogue is escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from urllib.parse import urlencode

from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.pages import MISSPELT, Pages, written_options
from backtrail.envs.webshop.state import State

__all__ = ["Links", "action_link", "render"]

Images = Callable[[Product], str]

Links = Callable[[str], str]
"""Gives the address that carries out an action, e.g. ``click[next >]``; of "search" the one that takes the search form."""


def action_link(action: str) -> str:
    """Return a relative address that names the action.

    Example:
        >>> action_link("click[next >]")
        '?action=click%5Bnext+%3E%5D'
    """
    return f"?{urlencode({'action': action})}"


def _own_image(product: Product) -> str:
    return product.image


def render(
    pages: Pages,
    instruction: str,
    state: State,
    links: Links = action_link,
    stylesheet: str = "",
    images: Images = _own_image,
) -> str:
    """Return the page of a state.

    Args:
        pages: The shop's pages.
        instruction: The goal in words.
        state: The place in the shop.
        links: Where buttons, links and options lead. Buttons post; links and options are followed with a GET.
        stylesheet: Address of a style sheet, "" for none.
        images: Gives the address of a product's picture, "" for none; that of its listing by default.
    """
    style = f'\n<link rel="stylesheet" href="{escape(stylesheet)}">' if stylesheet else ""
    if state.page == "index":
        body = _index(instruction, links)
    elif state.page == "done":
        body = _done(state)
    else:
        task = f'<div id="instruction-text" class="text-center"><h4>Instruction:<br>{escape(instruction)}</h4></div>'
        home = _button("Back to Search", links, "btn btn-success")
        body = "\n".join([task, _row(home), _below(pages, state, links, images)])
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>WebShop</title>{style}\n</head>\n'
        f'<body>\n<main class="container page-{state.page}">\n{body}\n</main>\n</body>\n</html>\n'
    )


def _below(pages: Pages, state: State, links: Links, images: Images) -> str:
    if state.page == "results":
        return _results(pages, state, links, images)
    return _item(pages, state, links, images) if state.page == "item" else _sub(pages, state, links)


def _index(instruction: str, links: Links) -> str:
    return f"""<div id="logo" class="text-center"><h2>WebShop</h2></div>
<div id="instruction-text" class="text-center"><h4>Instruction: <br>{escape(instruction)}</h4></div>
<form role="form" id="form-buscar" method="post" action="{escape(links("search"))}">
<input id="search_input" class="form-control" type="text" name="search_query" placeholder="Search..." required>
<button class="btn btn-success" type="submit">Search</button>
</form>"""


def _results(pages: Pages, state: State, links: Links, images: Images) -> str:
    number = state.number or 0
    parts = [f"<h3>Page {number} (Total results: {len(pages.hits(state))})</h3>"]
    if number > 1:
        parts.append(_button("< Prev", links))
    parts.append(_button("Next >", links))
    shown = [pages.catalogue.product(asin) for asin in pages.shown(state)]
    parts += [_card(each, each.asin in state.visited, links, images(each)) for each in shown]
    return "\n".join(parts)


def _card(product: Product, visited: bool, links: Links, image: str) -> str:
    link = escape(links(f"click[{product.asin.lower()}]"))
    seen = ' data-visited="true"' if visited else ""
    return f"""<div class="list-group-item searched-product"{seen}>
{_image(image, "result-img")}
<h4 class="product-asin"><a class="product-link" href="{link}">{escape(product.asin)}</a></h4>
<h4 class="product-title">{escape(product.title)}</h4>
<h5 class="product-price">{escape(product.tag)}</h5>
</div>"""


def _item(pages: Pages, state: State, links: Links, images: Images) -> str:
    product = pages.catalogue.product(state.asin or "")
    parts = [_row(_button("< Prev", links)), _image(images(product), "item-page-img", ' id="product-image"')]
    for name, values in product.options:
        radios = [
            _radio(name, place, value, (name, value) in state.options, links) for place, value in enumerate(values)
        ]
        parts += [f"<h4>{escape(name)}</h4>", '<div class="radio-toolbar">', *radios, "</div>"]
    parts += [
        f"<h2>{escape(product.title)}</h2>",
        f"<h4>Price: {escape(product.tag)}</h4>",
        "<h4>Rating: N.A.</h4>",
    ]
    subs = ["Description", "Features", "Reviews", *(["Attributes"] if pages.show_attributes else [])]
    parts += [_button(sub, links) for sub in subs]
    parts.append(_button("Buy Now", links, "btn btn-lg purchase"))
    return "\n".join(parts)


def _radio(name: str, place: int, value: str, chosen: bool, links: Links) -> str:
    key, checked = escape(f"radio_{name}{place}"), " checked" if chosen else ""
    link = escape(links(f"click[{value}]"))
    return (
        f'<input type="radio" id="{key}" name="{escape(name)}" value="{escape(value)}" data-url="{link}"'
        f'{checked}>\n<label for="{key}">{escape(value)}</label>'
    )


def _sub(pages: Pages, state: State, links: Links) -> str:
    product = pages.catalogue.product(state.asin or "")
    content = ""
    if state.sub == "Description":
        content = f'<p class="product-info">{escape(product.description)}</p>'
    elif state.sub == "Features":
        content = _list(product.bullets, "product-info")
    elif state.sub == "Attributes":
        kinds = {"category": product.category, "query": product.query, "product_category": product.product_category}
        lines = [f'<h5 class="product-{kind}">{escape(value)}</h5>' for kind, value in kinds.items()]
        content = "\n".join([_list(product.attributes, "attribute"), *lines])
    return f'{_row(_button("< Prev", links))}\n<div class="card card-body">\n{content}\n</div>'


def _list(lines: tuple[str, ...], kind: str) -> str:
    return "\n".join(["<ul>", *[f'<li><p class="{kind}"> {escape(line)}</p></li>' for line in lines], "</ul>"])


def _done(state: State) -> str:
    bought = {"purchased_attrs": "attrs", "purchased-category": "category", "purchased-query": "query"}
    bought["purchased-pc"] = "product category"
    wanted = {"asin": "asin", "options": "options", "attrs": "attrs", "price": "price upper"}
    wanted |= {
        "instruction-text": MISSPELT,
        "category": "category",
        "pc": "product category",
        "query": "query",
    }
    none = [f'<h4 id="{key}">{label}<span>None</span></h4>' for key, label in bought.items()]
    empty = [f'<h4 id="goal-{key}">{label}</h4>' for key, label in wanted.items()]
    lines = "\n".join
    return f"""<div id="thankyou" class="text-center"><h1>Thank you for shopping with us!</h1></div>
<div id="stats" class="text-center">
<h3>Your code: </h3>
<p><code>None</code> (Paste it in your MTurk interface.)</p>
<div hidden>
<h2>Purchased</h2>
<h4 id="asin">asin<span>{escape(state.asin or "")}</span></h4>
<h4 id="options">options<span>{escape(written_options(state))}</span></h4>
{lines(none)}
<h2>Target</h2>
{lines(empty)}
<h4>Goal <div id="goal"><span>None</span></div></h4>
<h2>Reward</h2>
</div>
<h3 id="reward">Your score (min 0.0, max 1.0)<span>{state.reward}</span></h3>
<h4 hidden>Reward Details <div id="reward_info"><span>None</span></div></h4>
</div>"""


def _button(label: str, links: Links, kind: str = "btn btn-primary") -> str:
    link = escape(links(f"click[{label.lower()}]"))
    return f'<form method="post" action="{link}"><button type="submit" class="{kind}">{escape(label)}</button></form>'


def _row(content: str) -> str:
    return f'<div class="row">{content}</div>'


def _image(address: str, kind: str, more: str = "") -> str:
    source = f' src="{escape(address)}"' if address else ""  # an empty address would be this page's
    return f'<img{more} class="{kind}" alt=""{source}>'
