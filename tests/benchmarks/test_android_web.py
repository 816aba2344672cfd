"""AndroidWorld in a browser: everything that an agent can do is done by hand, and nothing foreign comes in."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import serving
from chromium import CHROMIUM, Chromium
from PIL import Image
from typer.testing import CliRunner

from backtrail.benchmarks.android_web import make_app
from backtrail.benchmarks.commands import app as command_line
from backtrail.envs.androidworld.backend import DeviceError
from backtrail.envs.wrappers import Fingerprint, VisitCount

TestClient = pytest.importorskip("starlette.testclient", reason="needs starlette and httpx").TestClient

ENV = "backtrail/AndroidWorld-v0"
HERE = "http://127.0.0.1:8000"
TASK = "test/contacts/ContactsAdd-2000"
SETTINGS = {"action_type": "open_app", "app_name": "Settings"}


def visit(task_id: str | None = None, seed: int = 0, **options: Any) -> Any:
    return TestClient(make_app({"split": "test", **options}, task_id, seed), base_url=HERE)


@pytest.fixture
def client() -> Any:
    return visit()


def state(client: Any) -> dict[str, Any]:
    return client.get("/api/state").json()


def act(client: Any, action: dict[str, Any]) -> dict[str, Any]:
    body = json.dumps({"action": action})  # escaped, as half a character cannot travel otherwise
    found = client.post("/api/act", content=body, headers={"content-type": "application/json"})
    assert found.status_code == 200, found.text
    return found.json()


def plan() -> list[dict[str, Any]]:
    """How the oracle does `TASK`."""
    env = gym.make(ENV, split="test", expert=True, screenshot=False)
    _, info = env.reset(options={"task_id": TASK})
    return [json.loads(action) for action in info["expert_plan"]]


# -- the same phone ----------------------------------------------------------------------------------------


def test_shows_what_the_environment_returns(client: Any) -> None:
    env = VisitCount(Fingerprint(gym.make(ENV, split="test")))
    observation, info = env.reset(seed=0)
    shown = state(client)
    assert (shown["goal"], shown["text"]) == (observation["goal"], observation["text"])
    assert shown["info"]["task_id"] == info["task_id"]
    assert shown["info"]["fingerprint"] == info["fingerprint"]
    assert (shown["info"]["visits"], shown["actions"], shown["over"], shown["seed"]) == (0, [], False, 0)
    assert shown["size"] == [1080, 2400]
    found = client.get(f"/screen.png?v={shown['version']}")
    assert found.headers["content-type"] == "image/png"
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(found.content))), observation["screenshot"])


def test_the_list_of_elements_is_the_text_of_the_observation(client: Any) -> None:
    shown = act(client, SETTINGS)
    listed = [f"{number} {each['label']}" for number, each in enumerate(shown["elements"]) if each["label"]]
    assert "\n".join(listed) == shown["text"]


def test_an_action_goes_to_the_phone_as_it_came(client: Any) -> None:
    before = state(client)
    after = act(client, SETTINGS)
    assert after == state(client)
    assert after["version"] > before["version"]
    assert after["info"]["activity"].startswith("com.android.settings")
    assert after["actions"] == [{"action": json.dumps(SETTINGS), "error": ""}]
    again = act(client, {"action_type": "navigate_home"})
    assert (again["info"]["fingerprint"], again["info"]["visits"]) == (before["info"]["fingerprint"], 1)


def test_an_invalid_action_changes_nothing_and_says_why(client: Any) -> None:
    before = state(client)
    after = act(client, {"action_type": "fly"})
    assert "got 'fly'" in after["info"]["action_error"]
    assert after["actions"] == [{"action": '{"action_type": "fly"}', "error": after["info"]["action_error"]}]
    assert after["info"]["fingerprint"] == before["info"]["fingerprint"]


def test_the_oracle_s_plan_wins_and_then_the_episode_is_over() -> None:
    client = visit(TASK)
    for action in plan():
        assert not state(client)["over"]
        act(client, action)
    shown = state(client)
    assert (shown["over"], shown["info"]["success"]) == (True, True)
    assert "the episode is over" in act(client, SETTINGS)["info"]["action_error"]
    again = client.post("/api/reset", json={}).json()
    assert (again["over"], again["actions"], again["info"]["task_id"]) == (False, [], TASK)


def test_a_person_may_go_on_when_the_steps_are_spent() -> None:
    client = visit(max_episode_steps=2)
    assert [act(client, {"action_type": "wait"})["spent"] for _ in range(3)] == [False, True, True]
    assert act(client, SETTINGS)["info"]["activity"].startswith("com.android.settings")
    assert not state(client)["over"]


def test_everybody_sees_the_same_phone(client: Any) -> None:
    other = TestClient(client.app, base_url=HERE)
    act(client, SETTINGS)
    assert state(other) == state(client)
    assert other.get("/screen.png").content == client.get("/screen.png").content


# -- tasks -------------------------------------------------------------------------------------------------


def test_a_task_is_chosen_by_id_or_seed(client: Any) -> None:
    first, second = state(client), client.post("/api/reset", json={"seed": 1}).json()
    assert second["info"]["task_id"] != first["info"]["task_id"]
    assert second["seed"] == 1
    assert second["info"]["task_id"] == state(visit(seed=1))["info"]["task_id"]
    found = client.post("/api/reset", json={"task_id": TASK}).json()
    assert (found["info"]["task_id"], found["seed"]) == (TASK, 1)
    assert client.post("/api/reset", json={}).json()["info"]["task_id"] == TASK
    assert state(visit(TASK))["goal"] == found["goal"]


@pytest.mark.parametrize(
    "body", [{"task_id": "x"}, {"task_id": 3}, {"seed": -1}, {"seed": "1"}, {"seed": True}, {"seed": 1 << 63}, {"x": 1}]
)
def test_a_task_that_does_not_exist_is_refused(client: Any, body: dict[str, Any]) -> None:
    act(client, SETTINGS)
    before = state(client)
    found = client.post("/api/reset", json=body)
    assert found.status_code == 400
    assert found.json()["error"]
    assert state(client) == before


def test_a_page_needs_a_picture() -> None:
    with pytest.raises(ValueError, match="screenshot=True"):
        make_app({"screenshot": False})
    with pytest.raises(ValueError, match="task"):
        make_app({}, "x")


# -- what is no action -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"null", 400),
        (b"\xff\xfe\x00", 400),
        (b"{}", 400),
        (b'{"action": "click"}', 400),
        (b'{"action": [1]}', 400),
        (b'{"action": {}, "more": 1}', 400),
        (b"[" * 60000, 400),
        (b'{"action": {"a": ' + b"[" * 30000 + b"]" * 30000 + b"}}", 400),
        (b'{"action": {"x": ' + b"9" * 5000 + b"}}", 400),
        (b'{"action": {"text": "' + b"x" * (1 << 16) + b'"}}', 413),
    ],
)
def test_what_is_no_action_is_refused(client: Any, body: bytes, status: int) -> None:
    before = state(client)
    found = client.post("/api/act", content=body, headers={"content-type": "application/json"})
    assert found.status_code == status
    assert found.json()["error"].startswith("Expected")
    assert state(client) == before


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"action_type": None},
        {"action_type": {"deep": [[[]]]}},
        {"action_type": "click", "index": 10**30},
        {"action_type": "click", "x": float("nan"), "y": float("inf")},
        {"action_type": "input_text", "text": "x" * 9000},
        {"action_type": "open_app", "app_name": "\ud800"},
        {"action_type": "open_app", "app_name": "<script>alert(1)</script>"},
    ],
)
def test_any_object_is_survived(client: Any, action: dict[str, Any]) -> None:
    shown = act(client, action)
    assert shown["info"]["action_error"]
    assert shown["actions"][0]["action"] == json.dumps(action, ensure_ascii=False)


def test_any_text_can_be_typed_and_shown() -> None:
    client = visit(TASK)
    words = "\u00e9 \U0001f600 <b>\"'&\\"
    *before, typing = plan()[:3]
    for action in before:
        act(client, action)
    shown = act(client, typing | {"text": words})
    assert any(each["text"] == words for each in shown["elements"])
    assert shown["info"]["action_error"] == ""
    assert json.loads(shown["actions"][-1]["action"])["text"] == words
    assert client.get("/screen.png").content.startswith(b"\x89PNG")
    shown = act(client, typing | {"text": f"{words} \ud800"})
    assert "whole characters" in shown["info"]["action_error"]
    assert json.loads(shown["actions"][-1]["action"])["text"] == f"{words} \ud800"


# -- nothing foreign ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json", ""]
)
@pytest.mark.parametrize("path", ["/api/act", "/api/reset"])
def test_only_json_is_taken(client: Any, path: str, kind: str | None) -> None:
    body = json.dumps({"action": SETTINGS} if path == "/api/act" else {"seed": 1})
    before = state(client)
    found = client.post(path, content=body, headers={} if kind is None else {"content-type": kind})
    assert found.status_code == 415
    assert state(client) == before


def test_json_may_name_its_character_set(client: Any) -> None:
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    assert client.post("/api/act", content=json.dumps({"action": SETTINGS}), headers=headers).status_code == 200


@pytest.mark.parametrize("host", ["elsewhere.example:8000", "127.0.0.1", "127.0.0.1:80", "", "localhost:8000@x"])
def test_answers_to_no_other_name(client: Any, host: str) -> None:
    before = state(client)
    for path in ("/", "/api/state", "/screen.png"):
        assert client.get(path, headers={"host": host}).status_code == 421
    assert client.post("/api/act", json={"action": SETTINGS}, headers={"host": host}).status_code == 421
    assert state(client) == before


def test_asking_changes_nothing_and_only_posting_acts(client: Any) -> None:
    before = state(client)
    for path in ("/", "/phone.css", "/phone.js", "/api/state", "/screen.png", "/screen.png?v=x"):
        assert client.get(path).status_code == 200
        assert client.post(path, json={}).status_code == 405
    assert client.get("/api/act").status_code == client.get("/api/reset").status_code == 405
    assert client.get("/phone.html").status_code == client.get("/../play.py").status_code == 404
    assert state(client) == before


def test_every_answer_has_the_headers(client: Any) -> None:
    for path in ("/", "/phone.css", "/phone.js", "/api/state", "/screen.png", "/nowhere", "/api/act"):
        found = client.get(path)
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "connect-src 'self'" in policy
        assert "unsafe" not in policy
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in found.headers


def test_the_page_names_the_apps_of_the_phone(client: Any) -> None:
    page = client.get("/").text
    error = act(client, {"action_type": "open_app", "app_name": "?"})["info"]["action_error"]
    apps = error.partition("expected one of ")[2].split(", ")
    assert len(apps) > 10
    assert all(f"<option>{app}</option>" in page for app in apps)


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_names_the_extra_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrail.benchmarks.loopback import serve

    app = make_app({"split": "test"})
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(gym.error.DependencyNotInstalled, match="starlette and uvicorn"):
        serve(app) if package == "uvicorn" else make_app()


# -- a device that fails -----------------------------------------------------------------------------------


def unplug(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the device answers nothing."""

    def lost(*args: Any) -> Any:
        raise DeviceError("The emulator does not answer <b>")

    backend = client.app.state.episode._device.backend
    for name in ("reset", "act", "elements", "screenshot"):
        monkeypatch.setattr(backend, name, lost)


def test_a_device_that_fails_is_told_and_can_be_started_again(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = act(client, SETTINGS)
    picture = client.get("/screen.png").content
    with monkeypatch.context() as patches:
        unplug(client, patches)
        found = client.post("/api/act", json={"action": {"action_type": "navigate_home"}})
        assert (found.status_code, found.json()) == (503, {"error": "The emulator does not answer <b>"})
        after = state(client)
        assert after["actions"][1]["error"] == "The emulator does not answer <b>"
        assert after["version"] > before["version"]
        assert (after["text"], client.get("/screen.png").content) == (before["text"], picture)
        assert client.post("/api/reset", json={}).status_code == 503
        found = client.post("/api/act", json={"action": SETTINGS})
        assert (found.status_code, "start the task again" in found.json()["error"]) == (503, True)
        assert state(client) == after
        assert client.get("/").status_code == 200
    again = client.post("/api/reset", json={}).json()
    assert (again["actions"], again["info"]["task_id"]) == ([], before["info"]["task_id"])
    assert not act(client, SETTINGS)["info"]["action_error"]


# -- on the command line -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--web", "--rollback", "act"], "in a browser, go back"),
        (["--web", "--task-id", "x"], "x"),
        (["--web", "--option", "screenshot=false"], "screenshot=True"),
        (["--web", "--option", "device=toaster"], "toaster"),
        (["--web", "--option", "nonsense=1"], "nonsense"),
    ],
)
def test_bad_words_are_answered_in_one_line(words: list[str], message: str) -> None:
    found = CliRunner().invoke(command_line, ["play", "android", *words])
    assert found.exit_code == 2
    assert message in found.stderr.replace("\n", " ")
    assert found.stdout == ""


def test_the_terminal_plays_what_the_page_copies() -> None:
    lines = "".join(f"{json.dumps(action)}\n" for action in plan())
    words = ["play", "android", "--task-id", TASK]
    found = CliRunner().invoke(command_line, words, input=lines, catch_exceptions=False)
    assert "Won in" in found.stderr


@pytest.fixture
def served() -> Generator[str]:
    """The address of a server that runs as a user would run it."""
    with serving.served("The phone is open at", "play", "android", "--web", "--task-id", TASK) as address:
        yield address


# -- in a browser ------------------------------------------------------------------------------------------

SCREEN = "document.querySelector('#screen')"
READY = "state !== null && !busy && document.querySelector('#picture').complete"
LAST = "JSON.parse(document.querySelector('#last').textContent)"


@pytest.fixture
def chromium(tmp_path: Path) -> Generator[Chromium]:
    browser = Chromium(tmp_path / "profile")
    yield browser
    browser.close()


class Hands:
    """What a person does on the page: touches, buttons, fields."""

    def __init__(self, chromium: Chromium, address: str):
        self.chromium = chromium
        chromium.open(address)
        chromium.wait(READY)

    def js(self, code: str) -> Any:
        return self.chromium.js(code)

    def text(self, selector: str) -> str:
        return self.js(f"document.querySelector({json.dumps(selector)}).textContent")

    def done(self, before: int) -> None:
        """Wait until the phone has done something."""
        self.chromium.wait(f"{READY} && state.version > {before}")

    def press(self, selector: str) -> None:
        """Press a button that makes the phone do something."""
        before = self.js("state.version")
        found = f"document.querySelector({json.dumps(selector)})"
        self.js(f"{found}.scrollIntoView({{block: 'nearest'}})")
        self.chromium.touch(found)
        self.done(before)

    def touch(self, point: tuple[float, float], **more: Any) -> None:
        """Touch the screen at a point of the phone, in pixels."""
        before, (width, height) = self.js("state.version"), self.js("state.size")
        if "to" in more:
            more["to"] = (more["to"][0] / width, more["to"][1] / height)
        self.chromium.touch(SCREEN, (point[0] / width, point[1] / height), **more)
        self.done(before)

    def fill(self, form: str, field: str, words: str) -> None:
        """Write into a field, and press its button."""
        self.chromium.write(f"document.querySelector({json.dumps(field)})", words)
        self.press(f"{form} button")

    def find(self, words: str) -> int:
        """The number of the element that says so."""
        return self.js(
            f"state.elements.findIndex((each) => [each.text, each.description].includes({json.dumps(words)}))"
        )

    def middle(self, index: int) -> tuple[float, float]:
        """Where an element is: a little off its middle, as a hand would."""
        left, top, right, bottom = self.js(f"state.elements[{index}].bounds")
        return left + 0.4 * (right - left), top + 0.4 * (bottom - top)

    def carry_out(self, action: dict[str, Any]) -> None:
        """Do by hand what an agent writes."""
        match action["action_type"]:
            case "click" if "index" in action:
                self.touch(self.middle(action["index"]))
            case "input_text":
                self.js(f"document.querySelector('#into').value = {action['index']}")
                self.js(f"document.querySelector('#clear').checked = {json.dumps(action.get('clear_text', False))}")
                self.fill("#type", "#words", action["text"])
            case "open_app":
                self.fill("#open", "#app", action["app_name"])
            case "status":
                self.press(f'[data-status="{action["goal_status"]}"]')
            case kind:
                self.press(f'[data-do="{kind}"]')


in_a_browser = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}")


@pytest.mark.slow
@in_a_browser
def test_a_task_done_by_hand_is_won(served: str, chromium: Chromium) -> None:
    hands = Hands(chromium, served)
    assert hands.text("#task-id") == TASK
    assert "simulated phone" in hands.text("#data")
    for action in plan():
        hands.carry_out(action)
    assert hands.text("#result").startswith("Won in")
    assert hands.text("#notice").startswith("Won in")
    assert hands.js("document.querySelector('[data-do=wait]').disabled")
    copied = hands.js("lines()")
    found = CliRunner().invoke(command_line, ["play", "android", "--task-id", TASK], input=copied)
    assert "Won in" in found.stderr
    hands.press("#again")
    assert hands.js("document.querySelector('#result').hidden")
    hands.press("#next")
    assert hands.text("#task-id") != TASK
    hands.fill("#go", "#wanted", TASK)
    assert hands.text("#task-id") == TASK
    assert chromium.complaints == []


@pytest.mark.slow
@in_a_browser
def test_the_screen_is_touched_as_a_phone_s(served: str, chromium: Chromium) -> None:
    hands = Hands(chromium, served)
    home = hands.js("document.querySelector('#picture').currentSrc")
    hands.touch(hands.middle(hands.find("Settings")))
    assert hands.text("#activity").startswith("com.android.settings")
    assert hands.js("document.querySelector('#picture').currentSrc") != home
    assert hands.js(LAST)["action_type"] == "click"
    hands.touch((500, 1500), to=(520, 700))
    scrolled = hands.js(LAST)
    assert (scrolled["action_type"], scrolled["direction"]) == ("scroll", "down")
    assert hands.js(f"state.elements[{scrolled['index']}].scrollable")
    hands.touch((500, 700), to=(520, 1500))
    assert hands.js(LAST)["direction"] == "up"
    hands.touch((700, 900), until="busy || state.actions.length > 3")
    assert hands.js(LAST) == {"action_type": "long_press"} | {key: hands.js(LAST)[key] for key in ("x", "y")}
    assert abs(hands.js(LAST)["x"] - 700) <= 3
    hands.press("[data-do=navigate_home]")
    hands.touch((500, 2380), to=(500, 900))
    assert hands.js(LAST) == {"action_type": "swipe", "direction": "up"}
    hands.touch((100, 1200), to=(900, 1230))
    assert hands.js(LAST) == {"action_type": "swipe", "direction": "left"}
    hands.touch((500, 2100), shift=True)
    assert hands.js(LAST)["action_type"] == "double_tap"
    assert hands.text("#steps").startswith("8 of ")
    assert chromium.complaints == []


@pytest.mark.slow
@in_a_browser
def test_elements_are_listed_boxed_clicked_and_typed_into(served: str, chromium: Chromium) -> None:
    hands = Hands(chromium, served)
    contacts = hands.find("Contacts")
    hands.press(f"#elements [data-index='{contacts}']")
    assert hands.js(LAST) == {"action_type": "click", "index": contacts}
    assert "contacts" in hands.text("#activity")
    shown = "[...document.querySelectorAll('.box b')].filter((each) => each.offsetParent).length"
    assert hands.js(shown) <= 1  # what the mouse is on
    chromium.touch("document.querySelector('#show')")
    assert (
        hands.js(shown) == hands.js("listed().length") == hands.js("document.querySelectorAll('#elements li').length")
    )
    fits = "({x, y, width, height}) => [x, y, width, height].map(Math.round)"
    left, top, right, bottom = hands.js(f"state.elements[{hands.find('Create contact')}].bounds")
    box = hands.js(
        f"({fits})(document.querySelector('.box[data-index=\"{hands.find('Create contact')}\"]').getBoundingClientRect())"
    )
    x, y, width, height = hands.js(f"({fits})({SCREEN}.getBoundingClientRect())")
    place = [
        x + width * left / 1080,
        y + height * top / 2400,
        width * (right - left) / 1080,
        height * (bottom - top) / 2400,
    ]
    assert box == pytest.approx(place, abs=2)
    hands.touch(hands.middle(hands.find("Create contact")))
    field = hands.js("state.elements.findIndex((each) => each.editable)")
    hands.touch(hands.middle(field))
    hands.fill("#type", "#words", "Zo\u00eb <b>")
    assert hands.js(LAST) == {"action_type": "input_text", "text": "Zo\u00eb <b>"}
    assert hands.js("state.elements.some((each) => each.text === 'Zo\u00eb <b>')")
    assert hands.js("document.querySelectorAll('#elements li span b, #actions b').length") == 0
    assert hands.js("document.querySelector('#words').value") == ""
    hands.fill("#open", "#app", "Nowhere")
    assert "there is no app 'Nowhere'" in hands.text("#notice")
    assert hands.js("document.querySelector('#app').value") == "Nowhere"  # to be put right
    assert "Nowhere" not in hands.js("lines()")
    assert chromium.complaints == []


@pytest.mark.slow
@in_a_browser
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (800, 900), (400, 800)])
def test_fits_the_window(served: str, chromium: Chromium, width: int, height: int) -> None:
    chromium.size(width, height)
    hands = Hands(chromium, served)
    assert hands.js("document.documentElement.scrollWidth <= innerWidth")
    wide, tall = hands.js(f"(({{width, height}}) => [width, height])({SCREEN}.getBoundingClientRect())")
    assert wide / tall == pytest.approx(1080 / 2400, rel=0.02)
    assert tall <= height
    assert chromium.complaints == []


@pytest.mark.slow
@in_a_browser
def test_a_page_follows_what_another_one_does(served: str, chromium: Chromium) -> None:
    hands = Hands(chromium, served)
    other = "fetch('/api/act', {method: 'POST', headers: {'content-type': 'application/json'}, body: '{\"action\": {\"action_type\": \"open_app\", \"app_name\": \"Clock\"}}'})"
    before = hands.js("state.version")
    hands.js(f"void {other}")
    hands.done(before)
    assert "clock" in hands.text("#activity")


@pytest.mark.slow
@in_a_browser
def test_a_failure_is_shown_and_the_page_goes_on(served: str, chromium: Chromium) -> None:
    hands = Hands(chromium, served)
    broken = "new Response(JSON.stringify({error: 'The emulator does not answer <b>'}), {status: 503})"
    hands.js(f"kept = fetch; fetch = async (...asked) => asked[1] ? {broken} : kept(...asked); 0")
    chromium.touch("document.querySelector('[data-do=wait]')")
    chromium.wait("!busy && !document.querySelector('#notice').hidden")
    assert hands.text("#notice") == "The emulator does not answer <b>"
    hands.js("fetch = async () => { throw new TypeError() }; 0")
    chromium.touch("document.querySelector('[data-do=wait]')")
    chromium.wait("!busy && document.querySelector('#notice').textContent.startsWith('Nobody answers')")
    hands.js("fetch = kept; 0")
    hands.press("[data-do=wait]")
    assert hands.js("document.querySelector('#notice').hidden")
    assert hands.js("state.actions.length") == 1
    assert chromium.complaints == []
