"""WebShop in a browser: the address is the state, what it says is checked, and nothing foreign comes in or is run."""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from collections.abc import Generator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import gymnasium as gym
import pytest
import serving
from chromium import CHROMIUM, Chromium
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import backtrail.envs
from backtrail.benchmarks.commands import app as command_line
from backtrail.benchmarks.webshop_web import make_app
from backtrail.envs.webshop.catalogue import open_catalogue
from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.generate import rows

TestClient = pytest.importorskip("starlette.testclient", reason="needs starlette and httpx").TestClient

ATTACK = "</title></script><script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
VALUE = ATTACK.replace("/", " | ").lower()  # as the shop writes an option
HOSTILE = "\"><b>/'x"
HERE = "http://127.0.0.1:8000"


def hostile_row() -> dict[str, Any]:
    """A product whose every text would like to be markup, and whose picture would like to be loaded from elsewhere."""
    product = {
        "asin": HOSTILE,
        "name": f"Zzyzx {ATTACK}",
        "full_description": ATTACK,
        "pricing": "$5.00",
        "images": ["http://elsewhere.example/spy.png"],
        "product_category": ATTACK,
        "small_description": [ATTACK],
        "customization_options": {f"size {ATTACK}": [{"value": ATTACK}, {"value": "a [b]"}, {"value": "plain"}]},
        "category": "garden",
        "query": ATTACK,
    }
    asks = {"attributes": [ATTACK], "instruction": f"Find me {ATTACK}", "instruction_attributes": [ATTACK]}
    return {"product": product, "attributes": asks, "human": [], "nouns": ["zzyzx"]}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of sixty products and a hostile one."""
    path = tmp_path_factory.mktemp("webshop") / "catalogue"
    build([*rows(60), hostile_row()], path, label="generated:test", nouns="test")
    return path


@pytest.fixture(scope="session")
def options(folder: Path) -> dict[str, Any]:
    return {"data": str(folder), "split": "test", "split_by": "agentgym"}


@pytest.fixture(scope="session")
def client(options: dict[str, Any]) -> Any:
    return browser(options)


def browser(options: dict[str, Any], **more: Any) -> Any:
    return TestClient(make_app(options, **more), base_url=HERE, follow_redirects=False)


def task_with_options(folder: Path) -> str:
    """A task that asks for at least two options."""
    goals = open_catalogue(folder).goals("synthetic")
    number = next(n for n in range(len(goals)) if len(goals[n].options) > 1 and goals[n].asin != HOSTILE)
    return f"test/{open_catalogue(folder).product(goals[number].asin).category}/synthetic-{number}"


def start(client: Any, **asked: Any) -> str:
    found = client.get("/", params=asked)
    assert found.status_code == 303
    return found.headers["location"]


def act(client: Any, address: str, action: str) -> str:
    """Carry out an action as the pages do, and return the address that it leads to."""
    path, query = address.partition("?")[0] + "/act", {"action": action}
    if action.startswith("search["):
        found = client.post(path, data={"search_query": action[7:-1]})
    else:
        found = client.get(path, params=query)
        assert client.post(path, params=query).headers == found.headers  # buttons post, links and options do not
    assert found.status_code == 303
    return found.headers["location"]


def api(client: Any, address: str) -> dict[str, Any]:
    return client.get(address.replace("/visit/", "/api/state/")).json()


def page(client: Any, address: str) -> str:
    found = client.get(address)
    assert found.status_code == 200
    return found.text


def lead(client: Any, task_id: str, *actions: str) -> str:
    address = start(client, task_id=task_id)
    for action in actions:
        address = act(client, address, action)
    return address


def plan(options: dict[str, Any], task_id: str) -> tuple[Any, list[str]]:
    env = gym.make("backtrail/WebShop-v0", **options, expert=True)
    _, info = env.reset(seed=0, options={"task_id": task_id})
    return env, info["expert_plan"]


def written(address: str) -> list[Any]:
    """What an address holds."""
    place = address.removeprefix("/visit/").partition("~")[0]
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(place + "=" * (-len(place) % 4))))


def forged(values: Any, text: str | None = None) -> str:
    """The address that holds such values."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")) if text is None else text
    packed = zlib.compress(text.encode("utf-8", "surrogatepass"))
    return f"/visit/{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


class Elements(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


# -- the same shop -----------------------------------------------------------------------------------------


def test_a_plan_of_the_oracle_ends_with_a_score_of_1(client: Any, folder: Path, options: dict[str, Any]) -> None:
    task_id = task_with_options(folder)
    _, actions = plan(options, task_id)
    address = lead(client, task_id, *actions)
    text = page(client, address)
    assert 'id="reward">Your score (min 0.0, max 1.0)<span>1.0</span>' in text
    assert "Score 1: how it came about" in text
    assert "<th>Options</th><td>100%</td>" in text


def test_every_place_is_the_environment_s(client: Any, folder: Path, options: dict[str, Any]) -> None:
    env, actions = plan(options, task_id := task_with_options(folder))
    actions[-1:-1] = ["click[description]", "click[< prev]", "click[nothing of the kind]", "click[features]"]
    actions[-1:-1] = ["click[< prev]", "fly", "click[reviews]", "click[< prev]"]
    env = backtrail.envs.VisitCount(backtrail.envs.Fingerprint(env))
    observation, info = env.reset(seed=0, options={"task_id": task_id})
    address = start(client, task_id=task_id)
    for action in [*actions, None]:
        del info["expert_plan"]
        assert api(client, address) == json.loads(json.dumps({**observation, **info}))
        if action is not None:
            observation, _, _, _, info = env.step(action)
            address = act(client, address, action)
    assert info["success"]


def test_a_page_offers_the_admissible_actions_and_no_others(client: Any, folder: Path, options: dict[str, Any]) -> None:
    *actions, buy = plan(options, task_id := task_with_options(folder))[1]
    address = start(client, task_id=task_id)
    assert re.findall('action="([^"]+)"', page(client, address)) == [f"{address}/act"]
    for action in [*actions, "click[features]", "click[< prev]"]:
        address = act(client, address, action)
        elements = Elements(page(client, address)).found
        links = [attrs.get("action") or attrs.get("data-url") or attrs.get("href") for _, attrs in elements]
        expected = [
            f"{address}/act?{urlencode({'action': each})}" for each in api(client, address)["admissible_actions"]
        ]
        assert sorted(link for link in links if link and "/act" in link) == sorted(expected)
    assert "/act" not in page(client, act(client, address, buy))


def test_the_environment_s_options_are_the_shop_s(folder: Path, options: dict[str, Any]) -> None:
    client = browser(options | {"observation": "text_rich", "show_attributes": True, "fingerprint": "observation"})
    address = lead(client, task_with_options(folder), "search[<r>]")
    found = api(client, address)
    assert "[button] Next > [button_]" in found["text"]
    assert found["fingerprint"].startswith("webshop-1-observation:")
    address = act(client, address, found["admissible_actions"][-1])
    assert ">Attributes</button>" in page(client, address)


def test_a_strict_shop_has_no_pages(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="strict=False"):
        make_app(options | {"strict": True})


# -- the address is the state ------------------------------------------------------------------------------


def test_back_is_undo_and_tabs_do_not_disturb_each_other(client: Any, folder: Path, options: dict[str, Any]) -> None:
    first = task_with_options(folder)
    ids = [first, next(t for n in range(9) if (t := api(client, start(client, seed=n))["task_id"]) != first)]
    tabs: dict[str, list[tuple[str, str]]] = {task_id: [] for task_id in ids}
    plans = {task_id: plan(options, task_id)[1] for task_id in ids}
    addresses = {task_id: start(client, task_id=task_id) for task_id in ids}
    for step in range(max(map(len, plans.values())) + 1):  # by turns
        for task_id in ids:
            tabs[task_id].append((addresses[task_id], page(client, addresses[task_id])))
            if step < len(plans[task_id]):
                addresses[task_id] = act(client, addresses[task_id], plans[task_id][step])
    restarted = browser(options)
    for task_id in ids:
        assert api(client, addresses[task_id])["score"] == 1
        for address, text in reversed(tabs[task_id]):
            assert page(client, address) == page(restarted, address) == text
    assert len({address for address, _ in tabs[first]}) == len(plans[first]) + 1


def test_another_way_on_from_an_earlier_page(client: Any, folder: Path, options: dict[str, Any]) -> None:
    task_id = task_with_options(folder)
    *before, chosen, buy = plan(options, task_id)[1]
    item = lead(client, task_id, *before)
    right = act(client, act(client, item, chosen), buy)
    wrong = act(client, item, buy)
    assert api(client, wrong)["score"] < 1 == api(client, right)["score"]


def test_equal_places_have_equal_addresses_but_for_the_way(client: Any, folder: Path, options: dict[str, Any]) -> None:
    *before, one, other, _ = plan(options, task_id := task_with_options(folder))[1]
    there = lead(client, task_id, *before, one, other)
    here = lead(client, task_id, *before, other, one)
    assert there.partition("~")[0] == here.partition("~")[0]
    assert there != here


def test_earlier_visits_are_counted_along_the_way(client: Any, folder: Path) -> None:
    address, counts = lead(client, task_with_options(folder), "search[<r>]"), []
    for action in ["click[next >]", "click[< prev]"] * 40:
        address = act(client, address, action)
        counts.append(api(client, address)["visits"])
    assert counts[:6] == [0, 1, 1, 2, 2, 3]
    assert counts[-1] == 32  # of the last 64 places
    assert "<dt>Earlier visits</dt><dd>32</dd>" in page(client, address)
    assert len(address) < 600


def test_a_task_is_chosen_by_its_id_or_a_seed(client: Any, options: dict[str, Any]) -> None:
    assert start(client) == start(client, seed=0) == start(browser(options)) != start(client, seed=1)
    assert start(browser(options, seed=1)) == start(client, seed=1)
    task_id = api(client, start(client, seed=1))["task_id"]
    assert start(client, task_id=task_id) == start(client, seed=1) == start(browser(options | {"task_id": task_id}))


def test_links_to_the_same_task_and_to_a_new_one(client: Any, folder: Path) -> None:
    total, address, seen = len(open_catalogue(folder).goals("synthetic")), start(client), []
    for _ in range(total):
        text = page(client, address)
        again, new = re.findall('<a href="(/[?]task_id=[^"]+)">', text)
        assert client.get(again).headers["location"] == address
        seen.append(address)
        address = client.get(new).headers["location"]
    assert address == seen[0]
    assert len(set(seen)) == total


# -- what does nothing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["click[nothing]", "fly", ATTACK, "click[" + "x" * 3000 + "]", "click[search]", ""])
def test_an_action_that_does_nothing_says_why(client: Any, action: str) -> None:
    address = start(client)
    after = act(client, address, action) if action else address + "?tried=+"
    assert after.partition("~")[0].partition("?")[0] == address
    found, text = api(client, after), page(client, after)
    assert found["action_error"]
    assert Elements(text).text.count(f"Nothing happened: {found['action_error']}.") == 1
    assert [tag for tag, _ in Elements(text).found].count("script") == 1
    assert found["fingerprint"] == api(client, address)["fingerprint"]


def test_a_reason_is_not_taken_from_the_address(client: Any) -> None:
    address = start(client)
    assert page(client, f"{address}?tried=search%5Btea%5D") == page(client, address)
    assert page(client, f"{address}?error=nonsense&action_error=nonsense") == page(client, address)


def test_after_a_purchase_nothing_is_done(client: Any, folder: Path, options: dict[str, Any]) -> None:
    bought = lead(client, task_id := task_with_options(folder), *plan(options, task_id)[1])
    for action in ("click[buy now]", "search[tea]", "click[< prev]"):
        assert act(client, bought, action) == bought


@pytest.mark.parametrize("words", ["a [b] c", "]", " tea ", "\u00e9\U0001f600", "a\nb", "<r>", "<c> garden", "x" * 900])
def test_any_words_can_be_searched_for(client: Any, words: str) -> None:
    address = act(client, start(client), f"search[{words}]")
    assert client.get(address).status_code == 200
    assert bool(api(client, address)["action_error"]) == (words == "]")


# -- what an address may not say ---------------------------------------------------------------------------


def refused(client: Any, address: str) -> None:
    for path in (address, f"{address}/act?action=click%5Bx%5D"):
        found = client.get(path)
        assert found.status_code == 400
        assert "This address" in found.text
    found = client.get(address.replace("/visit/", "/api/state/"))
    assert found.status_code == 400
    assert found.json()["error"].startswith("This address")


NAMES = ["world", "task", "page", "keywords", "number", "drawn", "asin", "options", "sub", "visited"]


@pytest.mark.parametrize(
    "change",
    [
        {"world": "0" * 12},
        {"task": "test/garden/synthetic-99999"},
        {"task": None},
        {"task": ["x"]},
        {"page": "done", "asin": None},
        {"page": "index"},
        {"page": "nowhere"},
        {"page": ["item"]},
        {"page": "sub"},
        {"sub": "Reviews"},
        {"number": -1},
        {"number": 10**12},
        {"number": 10**4000},
        {"number": 1.0},
        {"number": True},
        {"keywords": []},
        {"keywords": ["\ud800"]},
        {"keywords": {"a": 1}},
        {"drawn": [10**9]},
        {"asin": "B000000000"},
        {"options": [["colour", "no such"]]},
        {"options": [["a"]]},
        {"visited": ["B000000000"]},
        {"visited": "x"},
    ],
)
def test_a_place_that_does_not_exist_is_refused(client: Any, folder: Path, options: dict, change: dict) -> None:
    *before, _ = plan(options, task_id := task_with_options(folder))[1]
    values = dict(zip(NAMES, written(lead(client, task_id, *before)), strict=True))
    assert values["page"] == "item"
    assert client.get(forged([*values.values()])).status_code == 200
    refused(client, forged([*(values | change).values()]))


def test_another_spelling_is_refused(client: Any, folder: Path, options: dict[str, Any]) -> None:
    *before, _ = plan(options, task_id := task_with_options(folder))[1]
    address = lead(client, task_id, *before)
    values = written(address)
    assert len(values[7]) > 1
    refused(client, forged([*values[:7], values[7][::-1], *values[8:]]))
    refused(client, forged([*values[:7], [*values[7], values[7][-1]], *values[8:]]))
    refused(client, forged(None, json.dumps(values, indent=1)))
    packed = zlib.compress(json.dumps(values, separators=(",", ":")).encode())
    for other in (packed + b"x", packed[:-1], packed[:-4]):
        refused(client, f"/visit/{base64.urlsafe_b64encode(other).decode().rstrip('=')}")
    refused(client, forged([*values, 1]))
    refused(client, forged(values[:-1]))


def test_a_score_cannot_be_claimed(client: Any, folder: Path, options: dict[str, Any]) -> None:
    *before, _ = plan(options, task_id := task_with_options(folder))[1]
    values = written(lead(client, task_id, *before[:2]))
    claimed = forged([*values[:2], "done", *values[3:]])
    assert api(client, claimed) == {**api(client, act(client, forged(values), "click[buy now]")), "visits": 0}
    assert api(client, claimed)["score"] < 1


@pytest.mark.parametrize(
    "token",
    ["x", "\u00e9", "~", "AAAA", "=", "a%2Fb", "%00", "x" * 20000]
    + [forged(None, text).removeprefix("/visit/") for text in ("", "{}", "5", "null", "[" * 9000, "NaN", " " * 10**6)],
)
def test_what_is_no_address_is_refused(client: Any, token: str) -> None:
    if "%2F" in token:
        assert client.get(f"/visit/{token}").status_code == 404
    else:
        refused(client, f"/visit/{token}")


@pytest.mark.parametrize("trail", ["~x", "~" + "A" * 4 * 65, "~AAAA~AAAA", "~AAA\u00e9"])
def test_a_bad_trail_is_refused(client: Any, trail: str) -> None:
    refused(client, start(client) + trail)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_an_address_is_refused_or_leads_to_a_page(client: Any, data: st.DataObject) -> None:
    address = act(client, start(client), "search[<r>]")
    place = data.draw(st.integers(len("/visit/"), len(address) - 1))
    letter = data.draw(st.sampled_from("AZaz09-_~"))
    changed = address[:place] + letter + address[place + data.draw(st.integers(0, 2)) :]
    assert client.get(changed).status_code in (200, 400)
    assert client.get(address).status_code == 200


@pytest.mark.parametrize(
    "query", ["seed=x", "seed=-1", "seed=1&task_id=x", "task_id=x", "task_id=%3Cb%3E", "x=1", "seed="]
)
def test_a_task_that_does_not_exist_is_refused(client: Any, query: str) -> None:
    found = client.get(f"/?{query}")
    assert found.status_code == 400
    assert "<b>" not in found.text


def test_a_form_that_is_none_is_refused(client: Any) -> None:
    path = f"{start(client)}/act"
    assert client.post(path).status_code == 400
    assert client.post(path, data={"search": "x"}).status_code == 400
    assert client.post(path, data={"search_query": "x" * 10**5}).status_code == 400
    assert client.post(path, content=b"search_query=\xff%ff").status_code == 303
    assert client.put(path).status_code == 405


# -- nothing foreign ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST:8000"])
def test_answers_to_the_names_of_this_machine(client: Any, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 303


@pytest.mark.parametrize(
    "host", ["elsewhere.example:8000", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8000.example", "", "localhost:8000@x"]
)
def test_answers_to_no_other_name(client: Any, host: str) -> None:
    found = client.get("/", headers={"host": host})
    assert found.status_code == 421
    assert "localhost:8000" in found.text


def test_every_answer_has_the_headers(client: Any) -> None:
    asin = quote_asin()
    for path in (
        "/",
        start(client),
        "/visit/x",
        "/nowhere",
        "/shop.css",
        "/shop.js",
        f"/picture/{asin}.svg",
        "/api/state/x",
    ):
        found = client.get(path)
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cache-control"] == "no-store"
    assert client.get("/", headers={"host": "x"}).headers["content-security-policy"]


def quote_asin() -> str:
    return "".join(f"%{ord(sign):02X}" for sign in HOSTILE)


def hostile_pages(client: Any) -> list[str]:
    """Addresses of all pages of the hostile product."""
    results = act(client, start(client), "search[zzyzx]")
    item = act(client, results, f"click[{HOSTILE.lower()}]")
    chosen = act(client, item, f"click[{VALUE}]")
    subs = [act(client, chosen, f"click[{name}]") for name in ("description", "features", "reviews", "attributes")]
    return [results, item, chosen, act(client, chosen, "click[a [b]]"), *subs, act(client, chosen, "click[buy now]")]


def test_nothing_of_a_product_is_run_or_loaded_from_elsewhere(options: dict[str, Any]) -> None:
    goals = open_catalogue(options["data"]).goals("synthetic")
    number = next(n for n in range(len(goals)) if goals[n].asin == HOSTILE)
    client = browser(options | {"task_id": f"test/garden/synthetic-{number}", "show_attributes": True})
    for address in [start(client), *hostile_pages(client)]:
        assert "tried" not in address
        text = page(client, address)
        elements = Elements(text)
        assert [attrs for tag, attrs in elements.found if tag == "script"] == [{"src": "/shop.js", "defer": None}]
        assert not [tag for tag, attrs in elements.found if tag == "b" or "onerror" in attrs]
        for _, attrs in elements.found:
            loaded = [attrs[name] or "" for name in ("src", "href", "action", "data-url") if name in attrs]
            assert all(re.match("/(?!/)|data:,$", link) for link in loaded)
        assert ATTACK in elements.text or "page-done" in text


def test_a_product_s_picture_is_drawn_here(client: Any) -> None:
    item = hostile_pages(client)[1]
    source = dict(Elements(page(client, item)).found)["img"]["src"]
    assert source == f"/picture/{quote_asin().replace('%78', 'x').replace('%62', 'b')}.svg"
    found = client.get(source)
    assert found.headers["content-type"] == "image/svg+xml"
    assert found.text.startswith("<svg")
    assert "<script" not in found.text
    assert client.get("/picture/B000000000.svg").status_code == 400


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_names_the_extra_to_install(options: dict, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrail.benchmarks.webshop_web import serve

    app = make_app(options)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "backtrail\[webshop\]"'):
        serve(app) if package == "uvicorn" else make_app(options)


# -- on the command line -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["alfworld", "--web"], "alfworld has no pages"),
        (["webshop", "--web", "--rollback", "act"], "in a browser, go back"),
        (["webshop", "--web", "--data", "nowhere"], "nowhere"),
        (["webshop", "--web", "--option", "strict=true"], "strict=False"),
        (["webshop", "--web", "--task-id", "x"], "Unknown task id"),
        (["webshop", "--web", "--preset", "x"], "Unknown preset 'x'"),
        (["webshop", "--option", "x"], "NAME=VALUE"),
        (["webshop", "--port", "x"], "--port"),
    ],
)
def test_bad_words_are_answered_in_one_line(words: list[str], message: str, folder: Path) -> None:
    data = ["--data", str(folder), "--option", "split_by=agentgym"] if "--data" not in words else []
    found = CliRunner().invoke(command_line, ["play", *words, *(data if words[0] == "webshop" else [])])
    assert found.exit_code == 2
    assert message in found.stderr.replace("\n", " ")
    assert found.stdout == ""


def test_play_takes_options_and_a_preset(folder: Path) -> None:
    words = ["--data", str(folder), "--preset", "agentgym", "--option", "observation=text_rich"]
    found = CliRunner().invoke(command_line, ["play", "webshop", *words], input="search[<r>]\n", catch_exceptions=False)
    assert "[button] Next > [button_]" in found.stderr


@pytest.fixture
def served(folder: Path) -> Generator[str]:
    """The address of a server that runs as a user would run it."""
    with serving.served(
        "The shop is open at", "play", "webshop", "--web", "--data", str(folder), "--option", "split_by=agentgym"
    ) as address:
        yield address


# -- in a browser ------------------------------------------------------------------------------------------


def one(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def button(label: str) -> str:
    return f"[...document.querySelectorAll('button')].find((found) => found.textContent === {json.dumps(label)})"


CHECKED = "[...document.querySelectorAll('input[type=radio]:checked')].map((found) => found.value)"


@pytest.fixture
def chromium(tmp_path: Path) -> Generator[Chromium]:
    browser = Chromium(tmp_path / "profile")
    yield browser
    browser.close()


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}")
def test_search_open_choose_go_back_and_buy(
    served: str, chromium: Chromium, folder: Path, options: dict[str, Any]
) -> None:
    _, (search, *turns, buy) = plan(options, task_id := task_with_options(folder))
    asin = next(number for number, action in enumerate(turns) if action != "click[next >]")
    values = [action[6:-1] for action in turns[asin + 1 :]]
    chromium.open(f"{served}?task_id={task_id}")
    chromium.write(one("#search_input"), search[7:-1])
    chromium.click(button("Search"))
    for _ in range(asin):
        chromium.click(button("Next >"))
    assert chromium.js("document.querySelectorAll('.result-img').length") > 0
    assert chromium.js("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
    chromium.click(f"[...document.links].find((found) => found.textContent === {turns[asin][6:-1].upper()!r})")
    assert chromium.js(CHECKED) == []
    for place, value in enumerate(values):
        radio = (
            f"[...document.querySelectorAll('input[type=radio]')].find((found) => found.value === {json.dumps(value)})"
        )
        chromium.click(radio if place % 2 else f"{radio}.labels[0]")
    assert sorted(chromium.js(CHECKED)) == sorted(values)
    for count in reversed(range(len(values))):  # what is chosen is undone, step by step
        chromium.back()
        assert len(chromium.js(CHECKED)) == count
    other = "[...document.querySelectorAll('input[type=radio]')].find((found) => !found.checked)"
    chromium.click(other)
    chromium.back()
    for value in values:
        chromium.click(
            f"[...document.querySelectorAll('label')].find((found) => found.textContent === {json.dumps(value)})"
        )
    chromium.click(button("Description"))
    chromium.click(button("< Prev"))
    assert sorted(chromium.js(CHECKED)) == sorted(values)
    assert buy == "click[buy now]"
    chromium.click(button("Buy Now"))
    assert chromium.js(f"{one('#reward span')}.textContent") == "1.0"
    assert "Score 1" in chromium.js(f"{one('#score')}.innerText")
    assert chromium.js("document.documentElement.scrollWidth <= innerWidth")
    chromium.back()
    assert sorted(chromium.js(CHECKED)) == sorted(values)
    assert chromium.screenshot().startswith(b"\x89PNG")
    # The options' own handler is refused by the policy, and /shop.js does what it would.
    assert chromium.complaints == []


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}")
def test_a_hostile_product_runs_nothing_and_fits_a_small_screen(served: str, chromium: Chromium) -> None:
    chromium.size(400, 800)
    chromium.open(served)
    chromium.write(one("#search_input"), "zzyzx")
    chromium.click(button("Search"))
    chromium.click(one(".product-link"))
    chromium.click(one("input[type=radio]"))
    assert chromium.js(CHECKED) == [VALUE]
    assert chromium.js("document.documentElement.scrollWidth <= innerWidth")
    assert chromium.js("window.attacked === undefined")
    assert chromium.js("[...document.images].map((image) => new URL(image.src).origin)") == [served.rstrip("/")]
    assert chromium.js("document.images[0].naturalWidth") > 0
