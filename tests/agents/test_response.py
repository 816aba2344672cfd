"""The structured response: what is written is read back, and whatever a model writes is read somehow."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backtrail.agents.response import Response, parse, render

MARKS = re.compile(
    r"</?(explore|exploration|memory|mem|thought|action|act|think|thinking)\s*>|\\boxed\s*\{", re.IGNORECASE
)

PIECES = st.sampled_from(
    [
        "```",
        "````",
        "`",
        '"',
        "'",
        "“",
        "”",
        "\n",
        " ",
        "{",
        "}",
        "<",
        ">",
        "</",
        "\\",
        "\\boxed",
        "boxed{",
        "\\text{",
        "action",
        "Action: ",
        "<explor",
        "ion>",
        "go to desk 1",
        "json\n",
        '{"a": "}"}',
        "\u2028",
        "\ud800",
        "\x00",
    ]
)
TAGS = st.sampled_from(
    [
        "<explore>",
        "</EXPLORE>",
        "<exploration>",
        "<memory>",
        "</memory>",
        "<mem>",
        "<action>",
        "</action >",
        "<act>",
        "<think>",
        "</think>",
        "<thinking>",
        "<thought>",
        "\\boxed{",
        "\\boxed {",
    ]
)
PLAIN = st.lists(st.text() | PIECES, max_size=6).map("".join).filter(lambda text: not MARKS.search(text))
ANYTHING = st.lists(st.text(max_size=5) | PIECES | TAGS, max_size=12).map("".join)


@given(PLAIN, PLAIN, PLAIN)
@example("", "", "")
@example("e", "m", '"go"')
@example("e", "m", "```\ngo\n```")
@example("e", "m", "````\n```\ngo\n```\n````")
@example("e<", "m</", "``` ` ```")
@example("e", "m", "\\text{go}")
def test_what_is_rendered_is_read_back(explore: str, memory: str, action: str) -> None:
    parsed = parse(render(Response(explore, memory, action)))
    assert (parsed.explore, parsed.memory, parsed.action) == (explore.strip(), memory.strip(), action.strip())
    assert parsed.valid == bool(explore.strip() and memory.strip() and action.strip())


@pytest.mark.parametrize(
    "mark", ["<action>", "</Explore >", "<mem>", "<think>", "</thinking>", "\\boxed{", "\\boxed {"]
)
def test_what_could_not_be_read_back_is_not_rendered(mark: str) -> None:
    for parts in (("a" + mark, "m", "a"), ("e", mark, "a"), ("e", "m", mark + "b")):
        with pytest.raises(ValueError, match="without the marks"):
            render(Response(*parts))


@given(ANYTHING | st.text(), st.booleans())
def test_any_text_is_read(text: str, cut: bool) -> None:
    parsed = parse(text, cut=cut)
    assert not parsed.valid or (parsed.explore and parsed.memory and parsed.action)
    assert parsed.action == parsed.action.strip()


@given(ANYTHING, PLAIN, PLAIN, PLAIN)
def test_thinking_is_ignored_whatever_it_holds(thought: str, explore: str, memory: str, action: str) -> None:
    thought = re.sub(r"</?think(ing)?\s*>", "", thought, flags=re.IGNORECASE)
    think = f"<think>{thought}</think>"
    explored, rest = render(Response(explore, memory, action)).split("</explore>")
    remembered, acted = rest.split("</memory>")
    text = f"{think}{explored}</explore>{think}{remembered}</memory>{think}{acted}{think}"
    assert parse(text) == parse(render(Response(explore, memory, action)))


E, M = "<explore>e</explore>", "<memory>m</memory>"


@pytest.mark.parametrize(
    ("written", "action"),
    [
        ("<action>look</action>", "look"),
        ("<ACTION>\n look \n</Action>", "look"),
        ("<act>look</act>", "look"),
        ("<action>look", "look"),
        ("<action>go</action><action>look</action>", "look"),
        ("<action>look</action>\n<action></action>", "look"),
        ("<action>go</action>\n<action>look", "look"),
        ("<action>I go: \\boxed{look}</action>", "look"),
        ("\\boxed{go} or rather \\boxed{look}", "look"),
        ("\\boxed{\\text{look}}", "look"),
        ("\\boxed{look", "look"),
        ("\\boxed{look} \\boxed{", "look"),
        ("<action>}{ \\boxed{look}</action>", "look"),
        ('<action>\\boxed{{"a": {"b": 1}}}</action>', '{"a": {"b": 1}}'),
        ('<action>\\boxed{ {"text": "a } b {{"} }.</action>', '{"text": "a } b {{"}'),
        ('<action>{"text": "```x```"}</action>', '{"text": "```x```"}'),
        ('<action>```json\n{"a": 1}\n```</action>', '{"a": 1}'),
        ("<action>Thus:\n```\ngo\n```\nno,\n```\nlook\n```</action>", "look"),
        ("<action>```look```</action>", "look"),
        ("<action>```look\n```</action>", "look"),
        ("<action>`look`</action>", "look"),
        ('<action>"look"</action>', "look"),
        ("<action>“look”</action>", "look"),
        ("<action>search['a']</action>", "search['a']"),
        ("<action>'a' or 'b'</action>", "'a' or 'b'"),
    ],
)
def test_an_action_is_found_in_many_forms(written: str, action: str) -> None:
    parsed = parse(f"{E}\n{M}\n{written}")
    assert (parsed.explore, parsed.action, parsed.valid) == ("e", action, True)
    assert parsed.memory == "m"


@pytest.mark.parametrize(
    ("text", "explore", "memory", "action"),
    [
        ("", "", "", ""),
        ("look", "", "", "look"),
        ("I look.\n\n'look'\n \n", "", "", "look"),
        ("Thought: hm\nAction: look", "", "", "look"),
        (f"{E}{M}look", "e", "m", "look"),
        (f"{E}<memory>  </memory><action>look</action>", "e", "", "look"),
        (f"{M}<action>look</action>", "", "m", "look"),
        (f"{E}{M}<action></action>", "e", "m", ""),
        (f"{E}{M}<action>\\boxed{{}}</action>", "e", "m", ""),
        (f"<think>{E}{M}<action>look</action>", "", "", ""),
        (f"{E}{M}<think>maybe <action>look", "e", "m", ""),
    ],
)
def test_what_is_incomplete_is_read_and_not_valid(text: str, explore: str, memory: str, action: str) -> None:
    parsed = parse(text)
    assert (parsed.explore, parsed.memory, parsed.action, parsed.valid) == (explore, memory, action, False)


def test_parts_end_at_the_next_tag_and_the_last_one_counts() -> None:
    parsed = parse("<explore>a<exploration>b</explore><MEM>old</MEM>x<memory>new<act>go</memory>")
    assert (parsed.explore, parsed.memory, parsed.action, parsed.valid) == ("b", "new", "go", True)


def test_thinking_that_the_chat_template_opened_is_ignored() -> None:
    assert parse(f"{E}<action>no</action></think>\n{M}<explore>f</explore><action>look</action>").explore == "f"
    assert parse(f"<think></think>{E}{M}</think><action>look</action>").valid  # a stray one later


def test_a_response_that_was_cut_off_is_valid_only_with_a_closed_action() -> None:
    for end, valid in (
        ("<action>go to drawer 1", False),
        ("\\boxed{go to drawer 1", False),
        ("<action>go</action>.", True),
    ):
        text = f"{E}{M}{end}"
        assert parse(text).valid
        assert parse(text, cut=True).valid is valid
        assert parse(text, cut=True).action == parse(text).action


def test_agents_require_different_parts() -> None:
    text = "<thought>t</thought><action>look</action>"
    assert parse(text, ("thought", "action")).valid and parse(text, ("thought", "action")).thought == "t"
    assert parse(text, ("action",)).valid
    assert not parse(text).valid
    assert not parse("look", ("action",)).valid


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<action",
        "<action>",
        "<action " + " " * 50,
        "</think>",
        "<think>",
        "<think></think>",
        "\\boxed{",
        "{",
        "}",
        "\\boxed{}",
        "\\boxed" + " " * 50,
        "`",
        "```",
        "```\n",
        "```` ```\n",
        '"',
        " ",
        "\n",
        "a\n",
        "action:",
        '{"a":',
        "[",
    ],
)
def test_long_and_hostile_texts_are_read_to_the_end(piece: str) -> None:
    for text in (piece * (1_000_000 // len(piece)), f"<action>{piece * (1_000_000 // len(piece))}"):
        parse(text)  # quadratic would be hours
    half = 500_000 // max(1, len("\\boxed{"))
    parse("\\boxed{" * half + "}" * half)
