"""The client for OpenAI-compatible servers, against a real local server that can fail in every way asked for."""

from __future__ import annotations

import base64
import builtins
import io
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from backtrail.agents.models.base import Message, MixedTemperature, ModelError, Sampling, UnsupportedError

pytest.importorskip("httpx")

from backtrail.agents.models.openai import OpenAIModel, ServerCompletion

KEY = "sk-not-a-real-key-1234"
ASK = [Message("system", "You walk."), Message("user", "Where to?")]
PLAIN = Sampling(temperature=0.7, max_tokens=32)
MIXED = Sampling(temperature=0.6, max_tokens=64, mixed=MixedTemperature("<explore>", "</explore>", 1.2))

Reaction = Callable[["Handler", dict[str, Any]], None]


def good(text: str | None = "go to desk 1", finish: str = "stop", **more: Any) -> dict[str, Any]:
    """Return a chat answer of as many tokens as words."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish,
        "stop_reason": None,
    }
    count = more.pop("tokens", len((text or "").split()) or 1)
    usage = more.pop("usage", {"prompt_tokens": 10, "completion_tokens": count})
    return {"choices": [choice | more], "usage": usage}


class Handler(BaseHTTPRequestHandler):
    server: Fake  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = len(self.server.seen)
            self.server.seen.append((self.path, body, dict(self.headers), time.monotonic()))
            self.server.now += 1
            self.server.most = max(self.server.most, self.server.now)
        try:
            script = self.server.script
            script[min(number, len(script) - 1)](self, body)
        finally:
            with self.server.lock:
                self.server.now -= 1

    def reply(self, data: bytes, status: int = 200, missing: int = 0, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) + missing))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Fake(ThreadingHTTPServer):
    """A server that follows a script: one reaction a request, the last one for all further ones."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Reaction] = [says(good())]
        self.seen: list[tuple[str, dict[str, Any], dict[str, str], float]] = []
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, body, _, _ in self.seen]

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients that hang up are part of the tests


def says(answer: dict[str, Any], status: int = 200, **headers: str) -> Reaction:
    return lambda handler, _: handler.reply(json.dumps(answer).encode(), status, 0, **headers)


def refuses(status: int, message: str, **headers: str) -> Reaction:
    return says({"error": {"message": message}}, status, **headers)


def truncated(handler: Handler, _: dict[str, Any]) -> None:
    handler.reply(json.dumps(good()).encode()[:-20], missing=20)
    handler.close_connection = True


def truncated_chunks(handler: Handler, _: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'c\r\n{"choices": [\r\n')
    handler.close_connection = True


def reset(handler: Handler, _: dict[str, Any]) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.close_connection = True


def slow(seconds: float) -> Reaction:
    def react(handler: Handler, _: dict[str, Any]) -> None:
        time.sleep(seconds)
        handler.reply(json.dumps(good()).encode())

    return react


@pytest.fixture
def server() -> Iterator[Fake]:
    fake = Fake()
    thread = threading.Thread(target=fake.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield fake
    fake.shutdown()
    fake.server_close()


@pytest.fixture
def make(server: Fake, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., OpenAIModel]]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made: list[OpenAIModel] = []

    def factory(base_url: str = "", **options: Any) -> OpenAIModel:
        made.append(OpenAIModel("tiny", base_url or server.url, **{"backoff": 0.001, "retries": 2, **options}))
        return made[-1]

    yield factory
    for model in made:
        model.close()
        model.close()


def ask(model: OpenAIModel, sampling: Sampling = PLAIN, prompt: list[Message] = ASK) -> ServerCompletion:
    (completion,) = model.generate([prompt], [sampling])
    assert isinstance(completion, ServerCompletion)
    return completion


# ---- requests and answers


def test_a_chat_request_and_its_answer(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    model = make(prices={"prompt": 1.0, "completion": 2.0})
    answer = ask(model, Sampling(temperature=0.7, top_p=0.9, top_k=5, min_p=0.1, max_tokens=9, stop=("END",), seed=3))
    path, body, headers, _ = server.seen[0]
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "tiny",
        "messages": [{"role": "system", "content": "You walk."}, {"role": "user", "content": "Where to?"}],
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 5,
        "min_p": 0.1,
        "max_tokens": 9,
        "stop": ["END"],
        "seed": 3,
    }
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (answer.text, answer.finish, answer.prompt_tokens, answer.completion_tokens) == (
        "go to desk 1",
        "stop",
        10,
        4,
    )
    assert answer.cost == pytest.approx((10 * 1 + 4 * 2) / 1e6)
    assert answer.seconds > 0 and answer.latency > 0 and answer.requests == 1
    assert answer.token_ids is answer.logprobs is answer.temperatures is None


def test_defaults_ask_for_nothing_that_a_plain_server_does_not_know(
    server: Fake, make: Callable[..., OpenAIModel]
) -> None:
    ask(make(limit_field="max_completion_tokens"), Sampling())
    assert set(server.bodies[0]) == {"model", "messages", "temperature", "top_p", "max_completion_tokens"}


def test_a_completions_request(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = [says({"choices": [{"text": "look", "finish_reason": "length"}]})]
    answer = ask(make(endpoint="completions", extra_body={"echo": False}))
    assert server.seen[0][0] == "/v1/completions"
    assert server.bodies[0]["prompt"] == "You walk.\n\nWhere to?\n\n"
    assert server.bodies[0]["echo"] is False
    assert (answer.text, answer.finish, answer.completion_tokens, answer.cost) == ("look", "length", 0, None)
    with pytest.raises(UnsupportedError, match="images"):
        ask(make(endpoint="completions"), prompt=[Message("user", "?", (np.zeros((2, 2, 3), np.uint8),))])


def test_an_assistant_message_at_the_end_is_gone_on_with(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    ask(make(), prompt=[*ASK, Message("assistant", "<action>")])
    assert server.bodies[0]["continue_final_message"] is True
    assert server.bodies[0]["add_generation_prompt"] is False
    assert server.bodies[0]["messages"][-1] == {"role": "assistant", "content": "<action>"}


def test_images_go_as_data_urls_before_the_text(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    image = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    ask(make(), prompt=[Message("user", "What is it?", (image,))])
    picture, text = server.bodies[0]["messages"][0]["content"]
    head, data = picture["image_url"]["url"].split(",")
    assert head == "data:image/png;base64"
    assert (np.array(Image.open(io.BytesIO(base64.b64decode(data)))) == image).all()
    assert text == {"type": "text", "text": "What is it?"}


@pytest.mark.parametrize(
    ("kind", "sampling", "reported"),
    [
        ("no", Sampling(), False),
        ("raw", Sampling(), True),
        ("raw", Sampling(temperature=0.5), False),
        ("processed", Sampling(temperature=0.5), True),
        ("processed", Sampling(top_p=0.9), False),
        ("processed", Sampling(top_k=3), False),
        ("processed", Sampling(min_p=0.1), False),
    ],
)
def test_logprobs_only_if_they_are_those_of_the_distribution_drawn_from(
    server: Fake, make: Callable[..., OpenAIModel], kind: str, sampling: Sampling, reported: bool
) -> None:
    tokens = [{"token": "go", "logprob": -0.5}, {"token": " on", "logprob": -1.5}]
    server.script = [says(good("go on", logprobs={"content": tokens}))]
    answer = ask(make(logprobs=kind), sampling)
    assert server.bodies[0].get("logprobs") == (True if reported else None)
    assert answer.logprobs == ((-0.5, -1.5) if reported else None)


def test_token_ids_where_the_server_gives_them(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = [says(good("go on", token_ids=[7, 8]) | {"prompt_token_ids": [1, 2, 3]})]
    answer = ask(make(token_ids=True))
    assert server.bodies[0]["return_token_ids"] is True
    assert (answer.prompt_ids, answer.token_ids, answer.temperatures) == ((1, 2, 3), (7, 8), (0.7, 0.7))


def test_answers_come_in_the_order_of_the_prompts_and_the_concurrency_limit_holds(
    server: Fake, make: Callable[..., OpenAIModel]
) -> None:
    def echo(handler: Handler, body: dict[str, Any]) -> None:
        number = int(body["messages"][0]["content"])
        time.sleep(0.02 * (3 - number % 4))
        handler.reply(json.dumps(good(f"answer {number}")).encode())

    server.script = [echo]
    model = make(concurrency=3)
    prompts = [[Message("user", str(number))] for number in range(12)]
    answers = model.generate(prompts, [PLAIN] * 12)
    assert [answer.text for answer in answers] == [f"answer {number}" for number in range(12)]
    assert 2 <= server.most <= 3
    assert len({answer.seconds for answer in answers}) == 1  # the batch's time
    assert model.generate([], []) == []


# ---- faults


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(refuses(500, "boom"), id="500"),
        pytest.param(refuses(503, "loading"), id="503"),
        pytest.param(refuses(429, "slow down"), id="429"),
        pytest.param(truncated, id="truncated-body"),
        pytest.param(truncated_chunks, id="truncated-stream"),
        pytest.param(reset, id="reset"),
        pytest.param(lambda handler, _: handler.reply(b'{"choices": [{'), id="malformed-json"),
        pytest.param(lambda handler, _: handler.reply(b"\xff\xfe"), id="not-text"),
        pytest.param(lambda handler, _: handler.reply(b"[]"), id="not-an-object"),
        pytest.param(says({"choices": []}), id="no-choices"),
        pytest.param(says({"error": {"message": "upstream"}}), id="error-in-200"),
        pytest.param(says({"choices": [{"message": None, "finish_reason": "stop"}]}), id="no-message"),
        pytest.param(says({"choices": [{"message": {"content": ["a"]}, "finish_reason": "stop"}]}), id="list"),
        pytest.param(says(good("")), id="empty"),
        pytest.param(says(good(None)), id="null"),
        pytest.param(says(good("half", finish="abort")), id="aborted"),
    ],
)
def test_a_fault_is_tried_again_and_named_if_it_lasts(
    server: Fake, make: Callable[..., OpenAIModel], fault: Reaction
) -> None:
    server.script = [fault, fault, says(good("fine"))]
    assert ask(make()).text == "fine"
    assert len(server.seen) == 3
    server.script = [fault]
    with pytest.raises(ModelError, match=rf"{re.escape(server.url)} gave no usable answer in 3 tries") as caught:
        ask(make())
    assert "resume the run" in str(caught.value)
    assert not isinstance(caught.value, UnsupportedError)
    assert len(server.seen) == 6


def test_a_server_that_is_down(make: Callable[..., OpenAIModel]) -> None:
    with socket.socket() as held:  # bound but not listening: nobody answers there
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=rf"{address} gave no usable answer in 2 tries.*ConnectError"):
            ask(make(address, retries=1))


def test_a_slow_server(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = [slow(5.0), says(good("fine"))]
    assert ask(make(read_timeout=0.3)).text == "fine"
    server.script = [slow(5.0)]
    with pytest.raises(ModelError, match="ReadTimeout"):
        ask(make(read_timeout=0.1, retries=1))


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_waited_for(server: Fake, make: Callable[..., OpenAIModel], form: str) -> None:
    def react(handler: Handler, _: dict[str, Any]) -> None:
        wish = "1" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)  # dates lose the fraction
        refuses(429, "slow down", Retry_After=wish)(handler, {})

    server.script = [react, says(good("fine"))]
    assert ask(make()).text == "fine"
    assert server.seen[1][3] - server.seen[0][3] > 0.9


def test_who_asks_for_more_patience_than_we_have_gets_none(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = [refuses(429, "quota", Retry_After="3600")]
    with pytest.raises(ModelError, match="asks to wait 3600 s"):
        ask(make(longest_wait=30))
    assert len(server.seen) == 1


def test_waits_grow_and_their_jitter_follows_the_seed(
    server: Fake, make: Callable[..., OpenAIModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [refuses(500, "boom")]

    def waits(seed: int) -> list[float]:
        model, taken = make(retries=4, backoff=1.0, longest_wait=6.0, seed=seed), list[float]()
        monkeypatch.setattr(model._closed, "wait", lambda seconds: taken.append(seconds) or False)
        with pytest.raises(ModelError):
            ask(model)
        return taken

    first = waits(0)
    assert first == waits(0) != waits(1)
    assert all(0.5 * 2**n <= wait <= min(1.5 * 2**n, 6.0) for n, wait in enumerate(first))


def test_closing_ends_a_wait(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = [refuses(429, "later", Retry_After="50")]
    model = make()
    threading.Timer(0.3, model._closed.set).start()
    start = time.monotonic()
    with pytest.raises(ModelError):
        ask(model)
    assert time.monotonic() - start < 40


@pytest.mark.parametrize(
    ("reaction", "kind", "says_what"),
    [
        (refuses(401, f"bad key {KEY}"), ModelError, "OPENAI_API_KEY"),
        (refuses(404, "no model tiny"), ModelError, "model name 'tiny'"),
        (refuses(400, "This model's maximum context length is 512 tokens"), ModelError, "too long: shorten it"),
        (refuses(413, "payload"), ModelError, "too long: shorten it"),
        (refuses(400, "Unrecognized request argument: min_p"), UnsupportedError, "does not take min_p"),
        (refuses(422, "temperature must be at most 1"), ModelError, "temperature must be at most 1"),
        (says({}, 307, Location="http://127.0.0.1:1/"), ModelError, "status 307"),
    ],
)
def test_what_another_try_would_not_change_fails_at_once(
    server: Fake, make: Callable[..., OpenAIModel], reaction: Reaction, kind: type[ModelError], says_what: str
) -> None:
    server.script = [reaction]
    with pytest.raises(ModelError, match=re.escape(says_what)) as caught:
        ask(make(), Sampling(min_p=0.1))
    assert type(caught.value) is kind
    assert len(server.seen) == 1
    assert KEY not in str(caught.value)


def test_one_bad_prompt_fails_the_batch_and_cancels_the_rest(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = [refuses(400, "prompt is too long")]
    with pytest.raises(ModelError, match="too long"):
        make(concurrency=1).generate([ASK] * 50, [PLAIN] * 50)
    assert len(server.seen) < 50


def test_no_secret_is_kept(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    model = make(server.url.replace("127", "user:secret@127"))
    ask(model)
    shown = f"{model.name} {model.details} {vars(model)}"
    assert KEY not in shown
    assert "secret" not in f"{model.name} {model.details}"


def test_an_address_that_is_none(make: Callable[..., OpenAIModel]) -> None:
    with pytest.raises(ValueError, match="base_url"):
        make("localhost:8000")


def test_without_httpx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    actual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "httpx":
            raise ImportError(name)
        return actual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "backtrail\[models\]"'):
        OpenAIModel("tiny", "http://127.0.0.1:1/v1")


# ---- hot spans on a plain server


def phases(*answers: dict[str, Any]) -> list[Reaction]:
    return [says(answer) for answer in answers]


def test_mixed_temperature_as_seen_on_the_wire(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = phases(
        good("I see. ", stop_reason="<explore>", tokens=3),
        good("the attic", stop_reason="</explore>", tokens=4),
        good("\n<action>go up</action>", tokens=6),
    )
    answer = ask(make(prices={"prompt": 1.0, "completion": 1.0}), MIXED)
    assert answer.text == "I see. <explore>the attic</explore>\n<action>go up</action>"
    assert (answer.finish, answer.forced_close, answer.requests) == ("stop", False, 3)
    assert (answer.prompt_tokens, answer.completion_tokens) == (10, 13)
    assert answer.cost == pytest.approx((30 + 13) / 1e6)
    assert answer.token_ids is answer.logprobs is answer.temperatures is None
    sent = [(body["temperature"], body["stop"], body["max_tokens"]) for body in server.bodies]
    assert sent == [(0.6, ["<explore>"], 64), (1.2, ["</explore>"], 61), (0.6, ["<explore>"], 57)]
    begun = ["", "I see. <explore>", "I see. <explore>the attic</explore>"]
    for body, text in zip(server.bodies, begun, strict=True):
        last = body["messages"][-1]
        assert last == ({"role": "assistant", "content": text} if text else {"role": "user", "content": "Where to?"})
        assert body.get("continue_final_message") == (True if text else None)


def test_mixed_temperature_by_completions(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    def text(said: str, stop: str | None) -> dict[str, Any]:
        choice = {"text": said, "finish_reason": "stop", "matched_stop": stop}  # SGLang's name
        return {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}

    server.script = phases(text("", "<explore>"), text("up", "</explore>"), text("", None))
    answer = ask(make(endpoint="completions"), MIXED)
    assert answer.text == "<explore>up</explore>"  # that nothing follows is fine
    assert server.bodies[2]["prompt"] == "You walk.\n\nWhere to?\n\n<explore>up</explore>"


def test_a_response_that_begins_inside_the_span_begins_hot(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = phases(good("up", stop_reason="</explore>"), good("!"))
    answer = ask(make(), MIXED, [*ASK, Message("assistant", "<explore>I may go ")])
    assert answer.text == "up</explore>!"
    assert [body["temperature"] for body in server.bodies] == [1.2, 0.6]
    assert server.bodies[1]["messages"][-1]["content"] == "<explore>I may go up</explore>"
    assert len(server.bodies[1]["messages"]) == 3


def test_a_span_that_never_closes_is_closed_at_the_cap_and_flagged(
    server: Fake, make: Callable[..., OpenAIModel]
) -> None:
    server.script = phases(
        good("", stop_reason="<explore>", tokens=3), good("on and on </exp", "length", tokens=8), good("done", tokens=1)
    )
    answer = ask(make(span_tokens=8), MIXED)
    assert answer.text == "<explore>on and on </explore>done"
    assert (answer.finish, answer.forced_close) == ("stop", True)
    assert server.bodies[1]["max_tokens"] == 8


@pytest.mark.parametrize("last", ["cap", "marker"])
def test_the_budget_is_shared_and_its_end_is_not_hidden(
    server: Fake, make: Callable[..., OpenAIModel], last: str
) -> None:
    end = good("on", "length", tokens=61) if last == "cap" else good("on", stop_reason="</explore>", tokens=61)
    server.script = phases(good("", stop_reason="<explore>", tokens=3), end)
    answer = ask(make(), MIXED)
    assert answer.text == "<explore>on" + ("</explore>" if last == "marker" else "")
    assert (answer.finish, answer.forced_close, answer.completion_tokens) == ("length", False, 64)
    assert len(server.seen) == 2


def test_the_end_of_the_response_and_other_stop_strings_end_every_phase(
    server: Fake, make: Callable[..., OpenAIModel]
) -> None:
    server.script = phases(good("just this", stop_reason=151645))
    assert ask(make(), MIXED).text == "just this"
    server.script = phases(good("", stop_reason="<explore>"), good("so", stop_reason="END"))
    server.seen.clear()
    stopped = ask(make(), Sampling(max_tokens=64, stop=("END",), mixed=MIXED.mixed))
    assert (stopped.text, stopped.finish) == ("<explore>so", "stop")
    assert server.bodies[1]["stop"] == ["</explore>", "END"]


def test_a_fault_in_a_later_phase_repeats_that_phase_only(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    server.script = [
        says(good("", stop_reason="<explore>")),
        refuses(500, "boom"),
        says(good("up", stop_reason="</explore>")),
        says(good("!")),
    ]
    assert ask(make(), MIXED).text == "<explore>up</explore>!"
    assert server.bodies[1] == server.bodies[2]


def test_servers_that_cannot_do_hot_spans(server: Fake, make: Callable[..., OpenAIModel]) -> None:
    silent = good("I see")
    del silent["choices"][0]["stop_reason"]
    server.script = [says(silent)]
    with pytest.raises(UnsupportedError, match="which stop string"):
        ask(make(), MIXED)
    server.seen.clear()
    server.script = [says(good("", stop_reason="<explore>", usage=None))]
    with pytest.raises(UnsupportedError, match="count tokens"):
        ask(make(), MIXED)
    server.seen.clear()
    server.script = [says(good("", stop_reason="<explore>")), refuses(400, "continue_final_message not permitted")]
    with pytest.raises(UnsupportedError, match="continue_final_message"):
        ask(make(), MIXED)
