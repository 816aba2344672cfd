"""The shop: what actions do and why they do nothing, states as values, identities, and the original's table of visits."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs.core import Snapshot, SnapshotError
from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.sessions import Sessions
from backtrail.envs.webshop.shop import Shop
from backtrail.envs.webshop.state import State, pack, unpack

COUNT = 60


def row(number: int) -> dict[str, Any]:
    """A lamp; the first few have options, some with awkward values."""
    awkward = ["a [b]", "[c", "features", "search", "attributes", "next >", "small"]
    options = {"Color": ["Red", "Blue"], "Size": ["Small", "Large", "Blue"]} if number < 3 else {}
    if number == 3:
        options = {"Kind": awkward}
    return {
        "product": {
            "asin": "b000000004" if number == 4 else f"B0000000{number:02}",
            "name": f"Lamp number {number}",
            "full_description": "It gives light.",
            "pricing": "$10.00" if number else "$10.00 - $20.00",
            "images": [],
            "product_category": "Home \u203a Lamps",
            "small_description": ["Bright."],
            "customization_options": {
                name: [{"value": value, "asin": ""} for value in values] for name, values in options.items()
            },
            "category": "garden" if number % 2 else "electronics",
            "query": "lamps" if number < 55 else "search_results",
        },
        "attributes": {
            "attributes": ["bright"],
            "instruction": "Find me a bright lamp",
            "instruction_attributes": ["bright"],
        },
        "human": [],
        "nouns": ["lamp", "number"],
    }


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return build(
        [row(number) for number in range(COUNT)], tmp_path_factory.mktemp("lamps") / "c", nouns="test", label="test"
    )


@pytest.fixture(scope="module")
def shop(catalogue: Catalogue) -> Shop:
    return Shop(catalogue)


@pytest.fixture(scope="module")
def strict(catalogue: Catalogue) -> Shop:
    return Shop(catalogue, strict=True)


def go(shop: Shop, *actions: str, start: State | None = None) -> State:
    state = start or shop.start(0)
    for action in actions:
        state, _, _, error = shop.step(state, action)
        assert not error, (action, error)
    return state


def walk(shop: Shop, picks: list[int]) -> State:
    """Follow admissible actions, now and then with an odd search; where there are none, begin again."""
    state = shop.start(0)
    for pick in picks:
        actions = shop.admissible(state) if pick % 7 else ["search[<r>]", "search[lamp search_results]", "search[ ]"]
        state = shop.step(state, actions[pick % len(actions)])[0] if actions else shop.start(pick % len(shop.goals))
    return state


PICKS = st.lists(st.integers(0, 1 << 16), max_size=30)
LAMP = ("search[lamp number 1]", "click[b000000001]")


# -- what actions do --------------------------------------------------------------------------------------


def test_a_search_is_possible_on_every_page(shop: Shop) -> None:
    ways = ((), LAMP[:1], LAMP, (*LAMP, "click[features]"), (*LAMP, "click[buy now]"))
    for way in ways:
        state = go(shop, *way, "search[Bright LAMP]")
        assert (state.page, state.keywords, state.number) == ("results", ("bright", "lamp"), 1)
        assert state.asin is None and state.options == ()


def test_turning_pages(shop: Shop) -> None:
    second = go(shop, "search[lamp]", "click[Next >]")
    assert second.number == 2 and go(shop, "click[< prev]", start=second).number == 1
    opened = go(shop, f"click[{shop.pages.shown(second)[3].lower()}]", start=second)
    assert go(shop, "click[features]", "click[< prev]", start=opened).page == "item"
    back = go(shop, "click[< prev]", start=opened)
    assert (back.page, back.number) == ("results", 2)


def test_options_are_replaced_and_never_taken_back(shop: Shop) -> None:
    state = go(shop, *LAMP, "click[large]", "click[red]", "click[small]", "click[small]")
    assert state.options == (("size", "small"), ("color", "red"))
    assert go(shop, "click[description]", "click[< prev]", start=state).options == state.options
    assert go(shop, "click[< prev]", "click[b000000001]", start=state).options == ()


def test_a_value_of_two_options_belongs_to_the_last(shop: Shop) -> None:
    assert go(shop, *LAMP, "click[blue]").options == (("size", "blue"),)


def test_a_purchase_is_judged_and_ends_nothing(shop: Shop) -> None:
    goal = shop.goal(0)
    chosen = [f"click[{value}]" for _, value in goal.options if goal.asin != "B000000003"]
    state = go(shop, f"search[<q> {shop.catalogue.product(goal.asin).query}]")
    while goal.asin not in shop.pages.shown(state):
        state = go(shop, "click[next >]", start=state)
    state = go(shop, f"click[{goal.asin.lower()}]", *chosen, start=state)
    bought, reward, done, error = shop.step(state, "click[buy now]")
    assert (reward, done, error, bought.page, bought.reward) == (1.0, True, "", "done", 1.0)
    assert dict(bought.details)["r_type"] == 1.0
    again, reward, done, _ = shop.step(bought, "search[lamp]")
    assert (again.done, again.reward, reward, done) == (True, 1.0, 0.0, False)


def test_back_to_search_forgets_all_but_what_was_bought(shop: Shop) -> None:
    state = go(shop, *LAMP, "click[buy now]", *LAMP, "click[red]", "click[back to search]")
    assert state == replace(shop.start(0), done=True, reward=state.reward, details=state.details)
    assert state.reward is not None


def test_special_searches(shop: Shop) -> None:
    assert len(shop.pages.hits(go(shop, "search[<c> garden]"))) == COUNT / 2
    assert len(shop.pages.hits(go(shop, "search[<q> lamps]"))) == 55  # more than other searches find
    assert shop.pages.hits(go(shop, "search[<q> search_results]")) == tuple(f"B0000000{n}" for n in range(55, 60))
    assert shop.pages.hits(go(shop, "search[   ]")) == ()
    drawn = go(shop, "search[<r>]")
    assert len(set(shop.pages.hits(drawn))) == 50 and go(shop, "search[<r>]") == drawn
    assert shop.step(shop.start(0), "search[<r>]", random.Random(1))[0].drawn != drawn.drawn
    assert go(shop, "click[next >]", "click[< prev]", start=drawn).drawn == drawn.drawn
    assert go(shop, "search[<r>]", start=shop.start(1)).drawn != drawn.drawn


@settings(max_examples=40)
@given(PICKS, st.text(max_size=20))
def test_nothing_but_the_state_decides(shop: Shop, picks: list[int], noise: str) -> None:
    state = walk(shop, picks)
    kept = replace(state)
    for action in (*shop.admissible(state), noise, f"click[{noise}]", f"search[{noise}]"):
        first = shop.step(state, action)
        shop.step(first[0], "click[back to search]")
        assert shop.step(state, action) == first and state == kept


# -- what does nothing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "action", "reason"),
    [
        ((), "", "the action is empty"),
        ((), "search[]", "the search is empty"),
        ((), "look around", "expected search[words] or click"),
        ((), "SEARCH[lamp]", "small letters: expected 'search[...]'"),
        ((), "buy[lamp]", "unknown action 'buy'"),
        ((), "search[a [b]]", "one pair of brackets"),
        ((), "think[hm] search[lamp]", "one pair of brackets"),
        ((), "search[two\nlines]", "on one line"),
        ((), "click[search]", "nothing to click on the search page"),
        (LAMP, "click[lar-ge]", "expected one of click[large]"),
        (LAMP, "click[zzz]", "expected one of click[back to search], click[< prev]"),
        (LAMP, "click[b000000002]", "there is no 'b000000002' to click here"),
        (LAMP[:1], "click[< prev]", "there is no '< prev'"),
        ((*LAMP, "click[reviews]"), "click[buy now]", "there is no 'buy now'"),
        ((*LAMP, "click[buy now]"), "click[back to search]", "the purchase is made"),
    ],
)
def test_what_does_nothing_says_why(shop: Shop, way: tuple[str, ...], action: str, reason: str) -> None:
    state = go(shop, *way)
    after, reward, done, error = shop.step(state, action)
    assert after is state and (reward, done) == (0.0, False)
    assert reason in error and len(error) < 500


@settings(max_examples=40)
@given(PICKS, st.booleans())
def test_admissible_actions_do_something(catalogue: Catalogue, picks: list[int], is_strict: bool) -> None:
    shop = Shop(catalogue, strict=is_strict)
    state = walk(shop, picks)
    for action in shop.admissible(state):
        assert shop.step(state, action)[3] == ""
    assert bool(shop.admissible(state)) == (state.page != "done")


def test_the_search_page_suggests_the_words_of_the_instruction(shop: Shop) -> None:
    (action,) = shop.admissible(shop.start(0))
    assert action.startswith("search[find me a bright lamp") and go(shop, action).page == "results"


# -- the original's accidents -----------------------------------------------------------------------------


def test_a_search_for_the_name_of_a_page(shop: Shop, strict: Shop) -> None:
    way = ("search[lamp search_results]", "click[next >]")
    opened = go(shop, *way)
    opened = go(shop, f"click[{shop.pages.shown(opened)[0].lower()}]", start=opened)
    assert go(shop, "click[< prev]", start=opened).number == 2
    assert go(strict, "click[< prev]", start=opened).number == 1
    zero = go(strict, "search[lamp number 1 search_results]", LAMP[1], "click[< prev]")
    assert strict.text(zero).endswith("Page 0 (Total results: 50) [SEP] Next >")


@pytest.mark.parametrize(
    ("action", "error"),
    [("search[<a> bright]", TypeError), ("search[<c>]", IndexError), ("click[b000000004]", KeyError)],
)
def test_only_a_strict_shop_raises(shop: Shop, strict: Shop, action: str, error: type[Exception]) -> None:
    start = go(shop, "search[lamp number 4]")
    assert go(shop, action, start=start).page in ("results", "item")
    with pytest.raises(error):
        strict.step(start, action)


def test_awkward_options(shop: Shop, strict: Shop) -> None:
    start = go(shop, "search[lamp number 3]", "click[b000000003]")
    for value in ("a [b]", "[c", "search", "attributes", "next >"):
        assert go(shop, f"click[{value}]", start=start).options == (("kind", value),)
    assert go(shop, "click[features]", start=start).sub == "Features"  # the button's word is the button's
    for value in ("a [b]", "[c", "search"):
        assert strict.step(start, f"click[{value}]")[3]
    assert go(strict, "click[attributes]", start=start).sub == "Attributes"


# -- states as values -------------------------------------------------------------------------------------


def test_a_shop_can_be_sent_to_another_process(strict: Shop) -> None:
    sent = pickle.loads(pickle.dumps(strict))
    state = go(strict, *LAMP, "click[red]")
    assert sent.strict and sent.fingerprint(state) == strict.fingerprint(state)
    assert sent.text_rich(go(sent, *LAMP, "click[red]")) == strict.text_rich(state)


@settings(max_examples=60)
@given(PICKS)
def test_a_state_survives_as_bytes(shop: Shop, picks: list[int]) -> None:
    state = walk(shop, picks)
    snapshot = Snapshot.from_bytes(Snapshot("webshop/1", "here", pack(state)).to_bytes())
    assert shop.check(unpack(snapshot.payload)) == state


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
)


@settings(max_examples=150)
@given(PICKS, st.integers(0, 13), PLAIN)
def test_a_damaged_state_is_refused_or_is_a_state(shop: Shop, picks: list[int], place: int, value: Any) -> None:
    payload = list(pack(walk(shop, picks)))
    payload[place] = value
    try:
        state = shop.check(unpack(tuple(payload)))
    except SnapshotError:
        return
    assert shop.text(state) and shop.text_rich(state) and shop.html(state)
    for action in shop.admissible(state):
        shop.step(state, action)


@pytest.mark.parametrize("payload", [None, (), ("x",) * 14, {}, [0] * 14])
def test_what_is_no_state_is_refused(payload: Any) -> None:
    with pytest.raises(SnapshotError):
        unpack(payload)


@pytest.mark.parametrize(
    "changes",
    [
        {"number": None},
        {"keywords": None},
        {"asin": None},
        {"sub": "Features"},
        {"page": "index"},
        {"page": "results"},
        {"page": "sub"},
        {"page": "done"},
        {"done": True},
        {"reward": 1.0},
        {"visited": ("B000000002", "B000000001")},
    ],
)
def test_a_state_that_contradicts_itself_is_refused(shop: Shop, changes: dict[str, Any]) -> None:
    with pytest.raises(SnapshotError):
        unpack(pack(replace(go(shop, *LAMP, "click[red]"), **changes)))


def test_a_state_of_another_shop_is_refused(shop: Shop) -> None:
    state = go(shop, *LAMP, "click[red]")
    for other in (
        replace(state, goal=10**6),
        replace(state, asin="B999999999"),
        replace(state, visited=("B999999999",)),
        replace(state, drawn=(COUNT,)),
        replace(state, options=(("color", "green"),)),
    ):
        with pytest.raises(SnapshotError):
            shop.check(other)


# -- identities -------------------------------------------------------------------------------------------


def test_the_order_of_choices_and_the_name_of_the_visit_do_not_count(shop: Shop) -> None:
    one = go(shop, *LAMP, "click[red]", "click[small]")
    other = go(shop, *LAMP, "click[large]", "click[small]", "click[red]", start=shop.start(0, "me"))
    assert one != other and shop.fingerprint(one) == shop.fingerprint(other)


def test_what_changes_the_future_counts(shop: Shop) -> None:
    ways = [(), LAMP[:1], LAMP, (*LAMP, "click[red]"), (*LAMP, "click[large]"), (*LAMP, "click[features]")]
    ways += [(*LAMP, "click[reviews]"), (*LAMP, "click[< prev]"), ("search[lamp]", "click[next >]"), ("search[lamp]",)]
    ways += [(*LAMP, "click[buy now]"), (*LAMP, "click[buy now]", LAMP[0]), ("search[<r>]",)]
    states = [go(shop, *way) for way in ways] + [shop.start(1)]
    states.append(shop.step(shop.start(0), "search[<r>]", random.Random(1))[0])
    assert len({shop.fingerprint(state) for state in states}) == len(ways) + 2


def test_the_observation_merges_what_looks_alike(shop: Shop) -> None:
    before, after = go(shop, *LAMP), go(shop, *LAMP, "click[red]")
    assert shop.fingerprint(before) != shop.fingerprint(after)
    assert shop.observation_fingerprint(before) == shop.observation_fingerprint(after)


def test_another_catalogue_has_other_fingerprints(shop: Shop, tmp_path: Any) -> None:
    rows = [row(number) for number in range(COUNT)]
    other = Shop(build(rows, tmp_path / "c", nouns="test", label="test", price_seed=1))
    assert shop.fingerprint(shop.start(0)) != other.fingerprint(other.start(0))


@settings(max_examples=40)
@given(PICKS, PICKS)
def test_equal_fingerprints_have_equal_futures(shop: Shop, one: list[int], two: list[int]) -> None:
    a, b = walk(shop, one), walk(shop, two)
    a, b = (a, b) if shop.fingerprint(a) == shop.fingerprint(b) else (a, replace(a, session="x", actions=()))
    for action in shop.admissible(a):
        (after_a, *rest_a), (after_b, *rest_b) = shop.step(a, action), shop.step(b, action)
        assert rest_a == rest_b and shop.fingerprint(after_a) == shop.fingerprint(after_b)
        assert shop.text_rich(after_a) == shop.text_rich(after_b)


# -- visits -----------------------------------------------------------------------------------------------


def test_a_known_name_keeps_its_goal(strict: Shop) -> None:
    visits = Sessions(strict, random.Random(0))
    assert (visits.reset(5).goal, visits.reset(5).session) == (5, "5")
    drawn = visits.reset("7").goal
    assert visits.reset(7).goal == drawn and visits.reset("5").goal == 5
    assert visits.reset(-1).goal == len(strict.goals) - 1


def test_a_new_name_is_ten_letters_and_its_goal_is_drawn(strict: Shop) -> None:
    visits, again = Sessions(strict, random.Random(3)), Sessions(strict, random.Random(3))
    states = [visits.reset() for _ in range(20)]
    assert all(len(state.session) == 10 and state.session.islower() for state in states)
    assert len({state.goal for state in states}) > 10 and states == [again.reset() for _ in range(20)]


def test_a_purchase_stays_with_the_name(strict: Shop) -> None:
    visits = Sessions(strict, random.Random(0))
    visits.reset(3)
    assert visits.verbose_info is None and not visits.view["done"]
    for action in (*LAMP, "click[red]"):
        visits.step(action)
    assert visits.view == {
        "keywords": ["lamp", "number", "1"],
        "page": 1,
        "asin": "B000000001",
        "asins": ["B000000001"],
        "options": {"color": "red"},
        "actions": {"search": 1, "asin": 1, "options": 1},
        "done": False,
    }
    _, reward, done, _ = visits.step("click[buy now]")
    details = visits.verbose_info
    assert done and details is not None
    visits.reset(4)
    assert visits.verbose_info is None
    state = visits.reset(3)
    assert (state.page, state.done, state.reward, visits.verbose_info) == ("index", True, reward, details)


def test_there_must_be_a_goal_and_a_visit(strict: Shop) -> None:
    visits = Sessions(strict, random.Random(0))
    with pytest.raises(LookupError, match="reset"):
        visits.step("search[lamp]")
    with pytest.raises(IndexError, match="Expected one of"):
        visits.reset(len(strict.goals))
