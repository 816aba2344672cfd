"""OverRIDE: responses to one prompt that avoid each other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backtrail.agents.models import Completion, Message, MixedTemperature, ModelError, Sampling, UnsupportedError
from backtrail.agents.models.base import Prompt
from backtrail.agents.models.hf import HFModel, Loaded
from backtrail.agents.models.override import Override, OverrideValues
from backtrail.agents.models.tiny import build_tiny

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

ROOM: Prompt = [Message("system", "Play."), Message("user", "You are in a room. Go.")]
HALL: Prompt = [Message("system", "Play."), Message("user", "You are in a hall with a long carpet. Go on.")]
GREEDY = Sampling(temperature=0.0, max_tokens=24)
HOT = Sampling(temperature=0.6, max_tokens=24, seed=3)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder: Path = build_tiny(tmp_path_factory.mktemp("models") / "tiny")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    return Loaded(model, transformers.AutoTokenizer.from_pretrained(folder))


@pytest.fixture(scope="module")
def plain(loaded: Loaded) -> HFModel:
    return HFModel(loaded)


def tokens(answers: Sequence[Completion]) -> list[tuple[int, ...]]:
    return [answer.token_ids or () for answer in answers]


def worst(found: Completion, expected: Sequence[float]) -> float:
    return float(np.abs(np.array(found.logprobs) - np.array(expected)).max())


# ---- what is drawn


def test_the_first_response_of_a_group_is_the_models_own(plain: HFModel) -> None:
    prompts, samplings = [ROOM, HALL, ROOM, HALL], [HOT] * 4
    found, expected = Override(plain).generate(prompts, samplings), plain.generate(prompts, samplings)
    assert tokens(found)[:2] == tokens(expected)[:2]
    assert all(worst(found[row], expected[row].logprobs or ()) < 1e-5 for row in (0, 1))
    assert all(found[row].token_ids != expected[row].token_ids for row in (2, 3))


def test_without_strength_nothing_changes(plain: HFModel) -> None:
    samplings = [HOT, Sampling(max_tokens=9, seed=1), HOT]
    found = Override(plain, OverrideValues(strength=0.0)).generate([ROOM] * 3, samplings)
    expected = plain.generate([ROOM] * 3, samplings)
    assert tokens(found) == tokens(expected)
    assert all(worst(one, other.logprobs or ()) < 1e-5 for one, other in zip(found, expected, strict=True))


def test_greedy_responses_differ_from_the_first(plain: HFModel) -> None:
    assert len(set(tokens(plain.generate([ROOM] * 4, [GREEDY] * 4)))) == 1
    found = tokens(Override(plain).generate([ROOM] * 4, [GREEDY] * 4))
    # neighbours differ by design; that none comes back to the first is true of this model, heads remember one response
    assert all(one != other for one, other in pairwise(found))
    assert found[0] not in found[1:] and found[0] == tokens(plain.generate([ROOM], [GREEDY]))[0]


def test_one_seed_gives_one_answer(plain: HFModel) -> None:
    model = Override(plain)
    assert tokens(model.generate([ROOM] * 3, [HOT] * 3)) == tokens(model.generate([ROOM] * 3, [HOT] * 3))


def test_groups_do_not_influence_each_other(plain: HFModel) -> None:
    model = Override(plain)
    short = Sampling(temperature=0.6, max_tokens=5, seed=4)  # ends while the other group is still being drawn
    prompts, samplings = [HALL, ROOM, HALL, ROOM, ROOM], [short, HOT, short, HOT, HOT]
    together = model.generate(prompts, samplings)
    apart = dict(zip((1, 3, 4), model.generate([ROOM] * 3, [HOT] * 3), strict=True))
    apart |= dict(zip((0, 2), model.generate([HALL] * 2, [short] * 2), strict=True))
    for place, alone in apart.items():
        assert together[place].token_ids == alone.token_ids
        assert worst(together[place], alone.logprobs or ()) < 1e-4


def test_nothing_asked_nothing_answered(plain: HFModel) -> None:
    assert Override(plain).generate([], []) == []


# ---- log-probabilities


def forward(model: Any, answer: Completion) -> tuple[Any, Any]:
    """The hidden states and logits that the tokens of a response were drawn from, without a cache."""
    ids = torch.tensor([[*(answer.prompt_ids or ()), *(answer.token_ids or ())]])
    with torch.no_grad():
        hidden = model.model(ids, use_cache=False).last_hidden_state[0, answer.prompt_tokens - 1 : -1]
        return hidden, model.lm_head(hidden)


class SlowHead:
    """The head again: gradients and Adam written out, from the formulas."""

    def __init__(self, size: tuple[int, int], values: OverrideValues):
        vocabulary, width = size
        down = torch.randn(values.rank, width, generator=torch.Generator().manual_seed(values.seed)) / width**0.5
        self.factors = [down, torch.zeros(vocabulary, values.rank)]
        self.moments = [(torch.zeros_like(factor), torch.zeros_like(factor)) for factor in self.factors]
        self.lr, self.steps = values.lr, 0

    def __call__(self, hidden: Any) -> Any:
        return self.factors[1] @ (self.factors[0] @ hidden)

    def learn(self, hidden: Any, logits: Any, target: int) -> None:
        error = (logits + self(hidden)).softmax(-1)
        error[target] -= 1
        down, up = self.factors
        gradients = [torch.outer(up.T @ error, hidden), torch.outer(error, down @ hidden)]
        self.steps += 1
        for place, gradient in enumerate(gradients):
            first, second = self.moments[place]
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            self.moments[place] = (first, second)
            scale = (second / (1 - 0.999**self.steps)).sqrt() + 1e-8
            self.factors[place] = self.factors[place] - self.lr * (first / (1 - 0.9**self.steps)) / scale


def slow_logprobs(
    model: Any, answer: Completion, before: SlowHead | None, own: SlowHead, strength: float
) -> list[float]:
    scores: list[float] = []
    hidden, logits = forward(model, answer)
    for x, z, token, heat in zip(hidden, logits, answer.token_ids or (), answer.temperatures or (), strict=True):
        used = z if before is None else z - strength * before(x)
        scores.append(float((used / (heat or 1.0)).log_softmax(-1)[token]))
        own.learn(x, z, int(used.argmax()))
    return scores


@pytest.mark.parametrize(
    "sampling",
    [
        HOT,
        GREEDY,
        Sampling(temperature=0.6, max_tokens=24, seed=5, top_k=20, mixed=MixedTemperature("e", "s", hot=1.3)),
    ],
    ids=["hot", "greedy", "mixed"],
)
def test_log_probabilities_are_those_of_the_changed_logits(loaded: Loaded, plain: HFModel, sampling: Sampling) -> None:
    values, model = OverrideValues(), loaded.model
    answers = Override(plain, values).generate([ROOM] * 3, [sampling] * 3)
    before, unchanged = None, 0.0
    for answer in answers:
        own = SlowHead(model.lm_head.weight.shape, values)
        assert worst(answer, slow_logprobs(model, answer, before, own, values.strength)) < 1e-4
        unchanged = worst(answer, slow_logprobs(model, answer, None, SlowHead(model.lm_head.weight.shape, values), 0.0))
        before = own
    assert unchanged > 0.1, "the plain model's log-probabilities fail the check"
    temperatures = {value for answer in answers for value in answer.temperatures or ()}
    assert temperatures == ({0.6, 1.3} if sampling.mixed else {sampling.temperature})


# ---- the model it wraps


def test_the_model_is_left_as_it_was(loaded: Loaded, plain: HFModel) -> None:
    before = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    Override(plain).generate([ROOM] * 2, [HOT] * 2)
    after = loaded.model.state_dict()
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    assert all(parameter.grad is None for parameter in loaded.model.parameters())
    assert not any(module._forward_hooks for module in loaded.model.modules())


def test_no_hook_is_left_after_an_error(loaded: Loaded, plain: HFModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        assert loaded.model.lm_head._forward_hooks, "the hook is there while tokens are drawn"
        raise RuntimeError("lost")

    with monkeypatch.context() as patched:
        patched.setattr("backtrail.agents.models.logprobs.Rows.draw", fails)
        with pytest.raises(RuntimeError, match="lost"):
            Override(plain).generate([ROOM] * 2, [HOT] * 2)
    assert not any(module._forward_hooks for module in loaded.model.modules())


def test_global_random_numbers_are_left_alone(plain: HFModel) -> None:
    state = torch.get_rng_state()
    Override(plain).generate([ROOM] * 2, [HOT] * 2)
    assert torch.equal(state, torch.get_rng_state())


def test_a_batch_that_does_not_fit_starts_its_heads_again(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    model, steps = HFModel(loaded), 0
    expected = Override(model).generate([ROOM, HALL] * 2, [HOT] * 4)
    generate = loaded.model.generate

    def cramped(**inputs: Any) -> Any:
        nonlocal steps
        output = generate(**inputs)
        steps += 1
        if len(output) > 1:
            raise torch.OutOfMemoryError
        return output

    monkeypatch.setattr(loaded.model, "generate", cramped)
    assert tokens(Override(model).generate([ROOM, HALL] * 2, [HOT] * 4)) == tokens(expected) and steps == 6


def test_pictures_and_models_without_an_output_embedding_are_refused(
    loaded: Loaded, plain: HFModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = np.zeros((4, 4, 3), dtype=np.uint8)
    with pytest.raises(UnsupportedError, match="no pictures"):
        Override(plain).generate([[Message("user", "Look.", (picture,))]], [HOT])
    monkeypatch.setattr(loaded.model, "get_output_embeddings", lambda: None)
    with pytest.raises(UnsupportedError, match="output embedding"):
        Override(plain).generate([ROOM], [HOT])


def test_recipe_values_and_close(loaded: Loaded) -> None:
    model = Override(HFModel(loaded))
    assert model.name == "hf:in memory+override"
    assert model.details["override"] == {"strength": 50.0, "rank": 16, "lr": 1e-3, "seed": 0}
    assert OverrideValues().sampling(Sampling(max_tokens=7)) == Sampling(temperature=0.6, max_tokens=7)
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.generate([ROOM], [HOT])


@pytest.mark.parametrize("wrong", [{"strength": -1.0}, {"strength": float("nan")}, {"rank": 0}, {"lr": 0.0}])
def test_values_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        OverrideValues(**wrong)


def test_importing_does_not_import_torch() -> None:
    code = "import sys, backtrail.agents.models.override; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
