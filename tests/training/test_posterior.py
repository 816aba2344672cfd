"""q_phi: what it is asked, how counts and a language model answer, and what they learn."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from making_transitions import transition

from backtrail.training.config import Config
from backtrail.training.posterior import Insight, Posterior, Replay, TabularPosterior, held_out, insights
from backtrail.training.transition import Transition

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
peft = pytest.importorskip("peft")

from backtrail.agents.models.hf_load import Loaded  # after the skips
from backtrail.training.learner import Row, micro_batches
from backtrail.training.posterior_lm import LMPosterior
from backtrail.training.posterior_model import fingerprint

TRAINED = [name for name in (f"task {number}" for number in range(40)) if not held_out(name)]
UNSEEN = [name for name in (f"task {number}" for number in range(40)) if held_out(name)]


def step(**changes: Any) -> Transition:
    texts = {
        "goal": "find the key",
        "observation": "A desk and a drawer.",
        "next_observation": "The drawer holds a key.",
        "explore": "open the drawer",
        "memory": "the desk is empty",
        "explore_before": "look at the desk",
        "memory_before": "I am in a room",
        "success": True,
    }
    return transition(**(texts | changes))


@pytest.fixture(scope="module")
def loaded(tiny: Path) -> Loaded:
    """The tiny model's tokenizer with a smaller model."""
    from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        intermediate_size=128,
        tie_word_embeddings=True,
        initializer_range=0.1,
        dtype="float32",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Loaded(Qwen3ForCausalLM(config).eval(), tokenizer)


def texts(count: int = 24) -> list[Insight]:
    """Texts of different lengths; those with an even number say one thing, the others another."""
    return [
        Insight(
            f"put mug {number} in the fridge\nYou see "
            + ", ".join(f"a cabinet {place}" for place in range(number % 7)),
            "open the drawer" if number % 2 == 0 else f"go to shelf {number % 3} and look at it",
            f"cabinet {number % 5} is closed" + "\nOn the desk you see a pen." * (number % 4),
        )
        for number in range(count)
    ]


EVEN = np.array([1.0, 0.0] * 12)
TASKS = [TRAINED[number % len(TRAINED)] for number in range(24)]
FAST = Config(explore="posterior", posterior_lr=1e-2, posterior_trust=math.inf, micro_tokens=1024)


def slow_scores(model: Any, tokenizer: Any, items: list[Insight]) -> tuple[list[float], list[int]]:
    """Score one item at a time, from the logits of the whole sequence, in float64."""
    sums: list[float] = []
    counts: list[int] = []
    for item in items:
        prompt = tokenizer(f"{item.state}\n", add_special_tokens=False).input_ids
        target = tokenizer(
            f"<explore>{item.explore}</explore>\n<memory>{item.memory}</memory>", add_special_tokens=False
        ).input_ids
        with torch.no_grad():
            logits = model(torch.tensor([prompt + target])).logits[0].double()
        total = 0.0
        for place, token in enumerate(target):
            row = logits[len(prompt) + place - 1]
            total += float(row[token] - torch.logsumexp(row, 0))
        sums.append(total)
        counts.append(len(target))
    return sums, counts


def distributions(model: Any, rows: list[Row]) -> Any:
    pairs = [(row.prompt_ids, row.token_ids) for row in rows]
    with torch.no_grad():
        parts = [model(torch.tensor([p + t])).logits[0, len(p) - 1 : -1].double().log_softmax(-1) for p, t in pairs]
    return torch.cat(parts)


# what is asked


def test_the_current_reading_asks_about_the_texts_written_in_the_step() -> None:
    now, following = insights([step()], Config(reading="current"))
    state = "find the key\nA desk and a drawer."
    assert now == [Insight(state, "open the drawer", "the desk is empty")]
    assert following == [Insight(state, "open the drawer", "the desk is empty\nThe drawer holds a key.")]
    assert now[0] and now[0].target == "<explore>open the drawer</explore>\n<memory>the desk is empty</memory>"


def test_the_previous_reading_asks_about_the_texts_carried_into_the_step() -> None:
    now, following = insights([step()], Config(reading="previous"), cut=lambda text: text[:10])
    state = "find the key\nA desk and a drawer."
    assert now == [Insight(state, "look at the desk", "I am in a room")]
    assert following == [Insight(state, "look at the desk", "I am in a room\nThe drawer")]


def test_terms_that_do_not_exist_are_none() -> None:
    rows = [step(next_observation=" "), step(reflection=True), step(memory="")]
    now, following = insights(rows, Config())
    assert now[0] is not None and following[0] is None
    assert now[1] is None and following[1] is None
    assert following[2] is not None and following[2].memory == "The drawer holds a key."


# counts


def test_counts_match_those_by_hand() -> None:
    posterior = TabularPosterior()
    a, b, other = Insight("s", "e", "a"), Insight("s", "e", "b"), Insight("t", "e", "a")
    assert posterior.score([a]).logq.tolist() == [0.0]
    posterior.update([a, a, b, other], np.array([1.0, 1.0, 0.0, 1.0]), ["x"] * 4)
    scores = posterior.score([a, b, other, Insight("s", "e", "new"), Insight("u", "e", "a")], prior=True)
    # two texts were seen, so there are three places: s has 2 successes of 3, t one of one
    assert np.exp(scores.logq) == pytest.approx([3 / 5, 1 / 5, 2 / 4, 1 / 5, 1 / 3])
    assert scores.prior is not None and np.exp(scores.prior) == pytest.approx([3 / 6, 2 / 6, 2 / 4, 1 / 6, 1 / 3])
    assert scores.tokens.tolist() == [1] * 5
    assert np.exp(scores.logq[[0, 1, 3]]).sum() == pytest.approx(1)
    assert posterior.score([a]).prior is None


def test_counts_of_the_released_order_include_the_sample_itself() -> None:
    posterior = TabularPosterior()
    a, b = Insight("s", "e", "a"), Insight("s", "e", "a\nb")
    first, second = posterior.score_released([a, a], [b, None], np.array([1.0, 0.0]))
    assert np.exp(first.logq) == pytest.approx([2 / 5, 2 / 5])
    assert np.exp(second.logq[0]) == pytest.approx(2 / 5) and np.isnan(second.logq[1])
    assert first.prior is not None and np.exp(first.prior) == pytest.approx([2 / 5, 3 / 6])
    empty, _ = posterior.score_released([], [], np.zeros(0))
    assert empty.logq.shape == (0,)


def test_counts_survive_a_restart(tmp_path: Path) -> None:
    posterior, again = TabularPosterior(), TabularPosterior()
    items = texts()
    posterior.update(items, np.linspace(0, 1, len(items)), TASKS)
    posterior.save(tmp_path)
    again.restore(tmp_path)
    for q in (posterior, again):
        q.update(items[::-1], EVEN, TASKS)
    one, two = posterior.score(items, prior=True), again.score(items, prior=True)
    assert one.prior is not None and two.prior is not None
    assert one.logq.tolist() == two.logq.tolist() and one.prior.tolist() == two.prior.tolist()


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"format": 0}), '{"format": 1, "counts": [[1]]}'])
def test_other_files_are_not_counts(tmp_path: Path, text: str) -> None:
    (tmp_path / "posterior.json").write_text(text)
    with pytest.raises(ValueError, match="Expected the counts of a posterior"):
        TabularPosterior().restore(tmp_path)


# replay


def test_replay_is_bounded_by_task_and_in_all() -> None:
    replay = Replay(per_task=2, tasks=2)
    for task, memory in [("a", "1"), ("b", "2"), ("a", "3"), ("a", "3"), ("a", "4"), ("c", "5")]:
        replay.add(task, Insight("s", "e", memory))
    assert [item.memory for item in replay.items()] == ["3", "4", "5"], "b succeeded least recently"
    again = Replay(per_task=2, tasks=2)
    again.from_json(json.loads(json.dumps(replay.to_json())))
    draws = [r.draw(2, np.random.default_rng(1)) for r in (replay, again)]
    assert draws[0] == draws[1] and len(set(draws[0])) == 2
    assert len(replay.draw(9, np.random.default_rng(1))) == 3
    assert Replay().draw(3, np.random.default_rng(1)) == []


def test_about_a_tenth_of_tasks_is_held_out() -> None:
    share = np.mean([held_out(f"game {number}") for number in range(2000)])
    assert 0.07 < share < 0.13


# the language model


@pytest.mark.parametrize("rank", [4, 0])
def test_scores_are_those_of_a_slow_computation(loaded: Loaded, rank: int) -> None:
    posterior = LMPosterior(loaded, dataclasses.replace(FAST, posterior_rank=rank))
    items = texts()
    expected, counts = slow_scores(loaded.model, loaded.tokenizer, items)
    scores = posterior.score(items, prior=True)
    assert scores.logq == pytest.approx(expected, abs=1e-3, rel=1e-5)
    assert scores.tokens.tolist() == counts and scores.logq.dtype == np.float64
    assert scores.prior is not None and scores.prior.tolist() == scores.logq.tolist(), "it starts as the prior"
    assert posterior.score(items).prior is None
    assert len(posterior.score([]).logq) == 0


@pytest.mark.parametrize("rank", [4, 0])
def test_after_an_update_scores_are_those_of_the_new_weights(loaded: Loaded, rank: int) -> None:
    posterior = LMPosterior(loaded, dataclasses.replace(FAST, posterior_rank=rank))
    items = texts()
    prior = posterior.score(items)
    posterior.update(items, EVEN, TASKS)
    scores = posterior.score(items, prior=True)
    model: Any = posterior._model
    assert scores.logq == pytest.approx(slow_scores(model, loaded.tokenizer, items)[0], abs=1e-3, rel=1e-5)
    assert np.abs(scores.logq - prior.logq).max() > 0.1
    assert scores.prior is not None and scores.prior.tolist() == prior.logq.tolist(), "the prior is frozen"


def test_the_batch_does_not_change_scores(loaded: Loaded) -> None:
    items = texts()
    alone = LMPosterior(loaded, dataclasses.replace(FAST, micro_tokens=1))
    wide = LMPosterior(loaded, dataclasses.replace(FAST, micro_tokens=10**6))
    one, all_ = alone.score(items), wide.score(items[::-1] + items)
    assert all_.logq[24:] == pytest.approx(one.logq, abs=1e-4, rel=1e-5)
    assert all_.logq[:24][::-1].tolist() == all_.logq[24:].tolist(), "equal texts have equal scores"


def test_micro_batches_hold_every_row_once_within_the_budget() -> None:
    sizes = [(number % 13 + 1, number % 5 + 1) for number in range(60)] + [(200, 1)]
    rows = [Row((0,) * prompt, (0,) * target) for prompt, target in sizes]
    grouped = list(micro_batches(rows, 64))
    assert sorted(place for chunk in grouped for place in chunk) == list(range(61))
    for chunk in grouped:
        widest = max(sizes[place][0] for place in chunk) + max(sizes[place][1] for place in chunk)
        assert len(chunk) * widest <= 64 or len(chunk) == 1
    assert len(grouped) < 20


@pytest.mark.parametrize("rank", [4, 0])
def test_successes_become_likelier_also_unseen_ones(loaded: Loaded, rank: int) -> None:
    changes = {"posterior_rank": rank, "posterior_lr": 1e-2 if rank else 1e-3}
    posterior = LMPosterior(loaded, dataclasses.replace(FAST, **changes))
    items = texts()
    similar = [dataclasses.replace(item, state=item.state.replace("mug", "pan")) for item in items]
    before = posterior.score(items + similar)
    base = fingerprint(loaded.model)
    outcomes, tasks = np.concatenate([EVEN, EVEN]), TASKS + [UNSEEN[0]] * 24
    logs = [posterior.update(items + similar, outcomes, tasks) for _ in range(6)]
    after = posterior.score(items + similar)
    gain = (after.logq - before.logq) / after.tokens
    assert (gain[:24][EVEN == 1] > 0.05).all()
    assert gain[:24][EVEN == 1].mean() > gain[:24][EVEN == 0].mean() + 0.05
    assert (gain[24:][EVEN == 1] > 0.05).all(), "the held-out task has like texts"
    assert logs[-1]["posterior/heldout_nll"] < logs[0]["posterior/heldout_nll"]
    assert logs[-1]["posterior/nll"] < logs[0]["posterior/nll"]
    assert logs[-1]["posterior/prior_kl"] > 0 and logs[0]["posterior/steps"] == 1
    assert logs[0]["posterior/rejected"] == 0 and logs[0]["posterior/replay"] == 12
    assert fingerprint(loaded.model) == base, "the policy is not touched"


def test_held_out_tasks_are_never_trained_on(loaded: Loaded) -> None:
    posterior = LMPosterior(loaded, FAST)
    items = texts()
    before = posterior.score(items)
    metrics = posterior.update(items, EVEN, [UNSEEN[0]] * 24)
    assert metrics["posterior/steps"] == 0 and metrics["posterior/replay"] == 0
    assert posterior.score(items).logq.tolist() == before.logq.tolist()
    won = EVEN == 1
    assert metrics["posterior/heldout_nll"] == pytest.approx(-before.logq[won].sum() / before.tokens[won].sum())


@pytest.mark.parametrize("outcome", [0.0, 0.5, 1.0])
def test_a_batch_that_ended_alike_teaches_nothing(loaded: Loaded, outcome: float) -> None:
    posterior = LMPosterior(loaded, FAST)
    before = posterior.score(texts())
    assert posterior.update(texts(), np.full(24, outcome), TASKS)["posterior/steps"] == 0
    assert posterior.score(texts()).logq.tolist() == before.logq.tolist()


def test_older_successes_are_learned_again(loaded: Loaded) -> None:
    posterior = LMPosterior(loaded, FAST)
    items = texts()
    posterior.update(items, EVEN, TASKS)
    before = posterior.score(items)
    lost = [Insight("elsewhere", f"lost {number}", "nothing") for number in range(12)]
    metrics = posterior.update(lost, np.zeros(12), TASKS[:12])
    assert metrics["posterior/steps"] == 1
    assert (posterior.score(items).logq - before.logq)[EVEN == 1].min() > 0


def test_the_kl_holds_the_posterior_to_the_prior(loaded: Loaded) -> None:
    moved: list[float] = []
    for weight in (0.0, 100.0):
        posterior = LMPosterior(loaded, dataclasses.replace(FAST, posterior_kl=weight))
        for _ in range(8):
            posterior.update(texts(), EVEN, TASKS)
        scores = posterior.score(texts(), prior=True)
        assert scores.prior is not None
        moved.append(float(np.abs(scores.logq - scores.prior).mean()))
    assert moved[1] < 0.5 * moved[0]


def test_the_gradient_is_that_of_the_formula(loaded: Loaded) -> None:
    posterior = LMPosterior(loaded, dataclasses.replace(FAST, posterior_kl=0.7, micro_tokens=200))
    items, model = texts(8), posterior._model
    posterior.update(texts(), EVEN, TASKS)  # away from the prior, where the KL has no gradient
    weights = np.linspace(-1, 1, 8)
    rows = posterior._rows(items)
    posterior._optimizer.zero_grad()
    for chunk in micro_batches(rows, 200):
        posterior._backward([rows[place] for place in chunk], weights[chunk], 8)
    got = [parameter.grad.clone() for parameter in posterior._parameters.values()]
    losses = []
    for row, weight in zip(rows, weights, strict=True):
        prompt, target = row.prompt_ids, row.token_ids
        ids = torch.tensor([prompt + target])
        with torch.no_grad(), model.disable_adapter():
            prior = model(ids).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
        q = model(ids).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
        logq = q[range(len(target)), target].sum()
        kl = torch.nn.functional.kl_div(prior, q, reduction="sum", log_target=True)  # KL(q || prior)
        losses.append((-weight * logq + 0.7 * kl) / len(target))
    wanted = torch.autograd.grad(torch.stack(losses).mean(), list(posterior._parameters.values()))
    for one, two in zip(got, wanted, strict=True):
        assert torch.allclose(one, two, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("rank", [4, 0])
def test_a_step_too_large_is_taken_back_exactly(loaded: Loaded, rank: int) -> None:
    config = dataclasses.replace(FAST, posterior_rank=rank)
    posterior = LMPosterior(loaded, config)
    posterior.update(texts(), EVEN, TASKS)
    values, state = posterior._values(), posterior._optimizer.state_dict()["state"]
    moments = {place: {key: value.clone() for key, value in entry.items()} for place, entry in state.items()}
    posterior._config = dataclasses.replace(config, posterior_trust=1e-12)
    metrics = posterior.update(texts(), EVEN, TASKS)
    assert metrics["posterior/rejected"] == 1 and metrics["posterior/trust_kl"] > 1e-12
    assert all(torch.equal(one, two) for one, two in zip(values, posterior._values(), strict=True))
    state = posterior._optimizer.state_dict()["state"]
    assert all(torch.equal(state[place][key], value) for place in moments for key, value in moments[place].items())


def test_a_first_step_taken_back_leaves_a_fresh_optimiser(loaded: Loaded) -> None:
    posterior = LMPosterior(loaded, dataclasses.replace(FAST, posterior_trust=0.0))
    before = posterior.score(texts())
    assert posterior.update(texts(), EVEN, TASKS)["posterior/rejected"] == 1
    assert posterior.score(texts()).logq.tolist() == before.logq.tolist()
    assert posterior._optimizer.state_dict()["state"] == {}


def test_the_trust_kl_is_that_between_the_weights_before_and_after(loaded: Loaded) -> None:
    posterior, items = LMPosterior(loaded, FAST), texts()
    rows, before = posterior._rows(items), posterior._values()
    logs = [distributions(posterior._model, rows)]
    metrics = posterior.update(items, EVEN, TASKS)
    logs.append(distributions(posterior._model, rows))
    expected = float((logs[1].exp() * (logs[1] - logs[0])).sum(-1).mean())
    assert metrics["posterior/trust_kl"] == pytest.approx(expected, rel=1e-3)
    assert any(not torch.equal(one, two) for one, two in zip(before, posterior._values(), strict=True))


def test_the_released_order_learns_before_it_scores(loaded: Loaded) -> None:
    config = dataclasses.replace(FAST, posterior_kl=1.0, posterior_lr=1e-3)
    posterior, items = LMPosterior(loaded, config), texts(4)
    following = [dataclasses.replace(item, memory=item.memory + "\nA pen.") for item in items[:3]] + [None]
    fresh = posterior.score(items, prior=True)
    first, second = posterior.score_released(items, following, np.array([1.0, 1.0, 0.0, 0.0]))
    assert first.prior is not None and second.prior is not None
    assert first.prior == pytest.approx(fresh.logq, abs=1e-3)
    assert first.logq[0] > fresh.logq[0] + 0.01, "it was learned"
    assert np.isnan(second.logq[3]) and np.isnan(second.prior[3]) and second.tokens[3] == 0
    assert not np.isnan(second.logq[:3]).any() and (second.tokens[:3] > first.tokens[:3]).all()


def test_a_released_step_is_reinforce_with_adamw(loaded: Loaded) -> None:
    config = dataclasses.replace(FAST, posterior_rank=0, posterior_lr=1e-4, posterior_kl=1.0)
    posterior, item = LMPosterior(loaded, config), texts(3)[2]
    posterior.score_released(texts(2), [None, None], np.ones(2))
    model = copy.deepcopy(posterior._model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0)
    optimizer.load_state_dict(copy.deepcopy(posterior._optimizer.state_dict()))
    (row,) = posterior._rows([item])
    prompt, target = row.prompt_ids, row.token_ids
    ids = torch.tensor([prompt + target])

    def logq(network: Any) -> Any:
        return network(ids).logits[0, len(prompt) - 1 : -1].log_softmax(-1)[range(len(target)), target].sum()

    log_q, log_p = logq(model), logq(loaded.model)
    signal = (1.0 * 1.0 - 1.0 * (log_q - log_p)).detach()
    (-signal * log_q).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    first, _ = posterior.score_released([item], [None], np.ones(1))
    assert first.logq[0] == pytest.approx(logq(model).item(), abs=1e-3)


@pytest.mark.parametrize("rank", [4, 0])
def test_a_restored_posterior_goes_on_bit_for_bit(loaded: Loaded, tmp_path: Path, rank: int) -> None:
    config = dataclasses.replace(FAST, posterior_rank=rank)
    posterior, again = (
        LMPosterior(loaded, dataclasses.replace(config, posterior_rows=10), 1, batch=8),
        LMPosterior(loaded, dataclasses.replace(config, posterior_rows=10), 2, batch=8),
    )
    items, tasks = texts(), [*TASKS[:-3], *UNSEEN[:1] * 3]
    posterior.save(tmp_path)  # without any step
    posterior.update(items, EVEN, tasks)
    posterior.save(tmp_path)
    again.restore(tmp_path)
    logs = [q.update(items[::-1], EVEN, tasks) for q in (posterior, again)]
    assert logs[0] == logs[1] and logs[0]["posterior/replay"] > 0 and logs[0]["posterior/steps"] == 3
    assert posterior.score(items).logq.tolist() == again.score(items).logq.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["posterior.safetensors"]


def test_a_posterior_of_other_weights_is_not_restored(loaded: Loaded, tmp_path: Path) -> None:
    LMPosterior(loaded, FAST).save(tmp_path)
    other = copy.deepcopy(loaded.model)
    with torch.no_grad():
        other.model.norm.weight.mul_(1.1)
    with pytest.raises(ValueError, match="before the first update"):
        LMPosterior(dataclasses.replace(loaded, model=other), FAST).restore(tmp_path)
    with pytest.raises(ValueError, match="rank 2"):
        LMPosterior(loaded, dataclasses.replace(FAST, posterior_rank=2)).restore(tmp_path)
    (tmp_path / "posterior.safetensors").write_bytes(b"something else")
    with pytest.raises(ValueError, match="Expected a posterior"):
        LMPosterior(loaded, FAST).restore(tmp_path)


def test_no_global_generator_is_used_and_the_seed_decides(loaded: Loaded) -> None:
    state, numpy_state = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002  # the point is to watch it
    runs: list[list[float]] = []
    for seed in (3, 3, 4):
        posterior: Posterior = LMPosterior(loaded, FAST, seed, batch=8)
        posterior.update(texts(), EVEN, TASKS)
        posterior.score_released(texts(2), [None, None], np.ones(2))
        runs.append(posterior.score(texts()).logq.tolist())
        posterior.close()
    assert runs[0] == runs[1] != runs[2]
    assert torch.equal(state, torch.get_rng_state())
    assert all(np.array_equal(one, two) for one, two in zip(numpy_state, np.random.get_state(), strict=True))  # noqa: NPY002


def test_an_adapter_of_the_policy_is_merged(loaded: Loaded) -> None:
    with torch.random.fork_rng(devices=[]):
        settings = peft.LoraConfig(r=2, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM")
        policy = peft.get_peft_model(copy.deepcopy(loaded.model), settings).eval()
    posterior = LMPosterior(dataclasses.replace(loaded, model=policy), FAST)
    expected, _ = slow_scores(policy, loaded.tokenizer, texts(4))
    assert posterior.score(texts(4)).logq == pytest.approx(expected, abs=1e-2, rel=1e-4)
    assert not np.allclose(expected, slow_scores(loaded.model, loaded.tokenizer, texts(4))[0], atol=0.1)


def test_an_observation_is_cut_to_tokens(loaded: Loaded) -> None:
    posterior = LMPosterior(loaded, dataclasses.replace(FAST, next_tokens=5))
    long = "You open the drawer. It holds a key, a pen and a mug."
    short = posterior.cut(long)
    assert long.startswith(short) and 0 < len(short) < len(long)
    assert len(loaded.tokenizer(short, add_special_tokens=False).input_ids) == 5
    assert posterior.cut("Nothing.") == "Nothing."
    assert posterior.cut("€" * 9) == "€", "no half of a character"


def test_lengths_that_differ_are_refused(loaded: Loaded) -> None:
    with pytest.raises(ValueError, match="as many outcomes and tasks"):
        LMPosterior(loaded, FAST).update(texts(2), np.ones(1), ["a", "b"])


def test_only_an_adapter_needs_peft(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(DependencyNotInstalled, match=r"backtrail\[train\]"):
        LMPosterior(loaded, FAST)
    assert len(LMPosterior(loaded, dataclasses.replace(FAST, posterior_rank=0)).score(texts(2)).logq) == 2


@pytest.mark.parametrize("rank", [4, 0])
def test_half_precision_weights_learn_and_resume(loaded: Loaded, tmp_path: Path, rank: int) -> None:
    half = dataclasses.replace(loaded, model=copy.deepcopy(loaded.model).to(torch.bfloat16))
    config = dataclasses.replace(FAST, posterior_rank=rank)
    posterior, again = LMPosterior(half, config), LMPosterior(half, config)
    scores = posterior.score(texts(), prior=True)
    assert scores.prior is not None and scores.prior.tolist() == scores.logq.tolist()
    posterior.update(texts(), EVEN, TASKS)
    posterior.save(tmp_path)
    again.restore(tmp_path)
    assert posterior.update(texts(), EVEN, TASKS) == pytest.approx(
        again.update(texts(), EVEN, TASKS), rel=0, nan_ok=True
    )
    assert (posterior.score(texts()).logq - scores.logq)[EVEN == 1].mean() > 0
