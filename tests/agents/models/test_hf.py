"""Models run by transformers: sampling, batches, log-probabilities, pictures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from plain_tiny import build_plain

from backtrail.agents.models import (
    Completion,
    Message,
    MixedTemperature,
    ModelError,
    Sampling,
    UnsupportedError,
)
from backtrail.agents.models.base import Prompt
from backtrail.agents.models.hf import HFModel, Loaded
from backtrail.agents.models.logprobs import pick, token_logprobs, truncate
from backtrail.agents.models.mixed import piece_temperatures, token_pieces
from backtrail.agents.models.tiny import TAGS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TAG = MixedTemperature("<explore>", "</explore>", hot=1.2)
PROMPTS: list[Prompt] = [
    [Message("system", "Play."), Message("user", "You are in a room. " * number + "Go.")]
    for number in (1, 9, 3, 17, 2, 5, 0, 12)
]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_plain(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def tiny(folder: Path) -> HFModel:
    return HFModel(folder, local_files_only=True, device="cpu")


@pytest.fixture(scope="module")
def network(folder: Path) -> Any:
    """The tiny model with a bias towards the tokens of the tags, so that it writes spans without being trained."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    head = torch.nn.Linear(model.config.hidden_size, model.config.vocab_size)
    with torch.no_grad():
        head.weight.copy_(model.lm_head.weight / 2)
        head.bias.zero_()
        head.bias[tokenizer(TAG.open + TAG.close)["input_ids"]] = 7.0
    model.lm_head = head
    return model


@pytest.fixture(scope="module")
def tagging(network: Any, folder: Path) -> HFModel:
    return HFModel(Loaded(network, transformers.AutoTokenizer.from_pretrained(folder)))


@pytest.fixture(scope="module")
def spans(tagging: HFModel) -> list[Completion]:
    """Responses under mixed temperature, one batch of uneven prompts."""
    samplings = [Sampling(temperature=0.6, max_tokens=160, seed=seed, mixed=TAG) for seed in range(16)]
    return tagging.generate([*PROMPTS, *PROMPTS], samplings)


def rescored(network: Any, completions: Sequence[Completion], temperature: float | None = None) -> float:
    """The largest difference from a plain forward pass, at the stored temperatures or at one for all."""
    worst = 0.0
    for completion in completions:
        assert completion.prompt_ids and completion.token_ids and completion.logprobs and completion.temperatures
        heat = completion.temperatures if temperature is None else [temperature] * len(completion.token_ids)
        with torch.inference_mode():
            (scores,) = token_logprobs(network, [completion.prompt_ids], [completion.token_ids], [heat])
        worst = max(worst, (scores - torch.tensor(completion.logprobs)).abs().max().item())
    return worst


# ---- log-probabilities


def test_the_tags_are_several_tokens_and_both_spans_occur(folder: Path, spans: list[Completion]) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert len(tokenizer(TAG.open)["input_ids"]) > 1 and len(tokenizer(TAG.close)["input_ids"]) > 1
    heat = [value for completion in spans for value in completion.temperatures or ()]
    assert min(heat.count(0.6), heat.count(1.2)) > 300 and set(heat) == {0.6, 1.2}
    assert any(heat[place : place + 2] == [1.2, 0.6] for place in range(len(heat))), "a span was closed"


def test_a_plain_forward_pass_gives_the_stored_log_probabilities(network: Any, spans: list[Completion]) -> None:
    assert rescored(network, spans) < 1e-4


@pytest.mark.parametrize("temperature", [1.0, 0.6, 1.2])
def test_ignoring_the_temperatures_does_not(network: Any, spans: list[Completion], temperature: float) -> None:
    assert rescored(network, spans, temperature) > 0.1


def test_rows_are_scored_together_as_alone(network: Any, spans: list[Completion]) -> None:
    rows = [(c.prompt_ids or (), c.token_ids or (), c.temperatures or ()) for c in spans[:4]]
    with torch.inference_mode():
        together = token_logprobs(network, *zip(*rows, strict=True))
    for scores, completion in zip(together, spans[:4], strict=True):
        torch.testing.assert_close(scores, torch.tensor(completion.logprobs), atol=1e-4, rtol=0)
    with pytest.raises(ValueError, match="as many temperatures"):
        token_logprobs(network, [[1]], [[2, 3]], [[1.0]])


def test_the_scores_are_differentiable(network: Any) -> None:
    (scores,) = token_logprobs(network, [[5, 6]], [[7, 8, 9]], [[1.0, 0.5, 2.0]])
    scores.sum().backward()
    assert network.lm_head.bias.grad.abs().sum() > 0
    network.zero_grad()


def test_truncation_does_not_change_the_log_probabilities(network: Any, tagging: HFModel) -> None:
    for sampling in (Sampling(top_k=5), Sampling(top_p=0.5), Sampling(min_p=0.2), Sampling(temperature=0)):
        answers = tagging.generate(
            PROMPTS[:2], [Sampling(sampling.temperature, sampling.top_p, sampling.top_k, sampling.min_p, 20)] * 2
        )
        assert rescored(network, answers) < 1e-4


# ---- mixed temperature


def test_the_temperatures_follow_the_rule(folder: Path, spans: list[Completion]) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pieces = token_pieces(tokenizer, len(tokenizer) + len(TAGS))
    for completion in spans:
        text = [pieces[token] for token in completion.token_ids or ()]
        assert list(completion.temperatures or ()) == piece_temperatures(text, TAG.open, TAG.close, 1.2, 0.6)


def test_the_strategy_is_hot_and_the_rest_cool(network: Any, spans: list[Completion]) -> None:
    """Entropy of the distribution each token was drawn from, by span, and its estimate from the drawn tokens."""
    entropy: dict[float, list[float]] = {0.6: [], 1.2: []}
    surprise: dict[float, list[float]] = {0.6: [], 1.2: []}
    for completion in spans:
        ids = torch.tensor([[*(completion.prompt_ids or ()), *(completion.token_ids or ())]])
        heat = completion.temperatures or ()
        with torch.inference_mode():
            logits = network(ids).logits[0, -len(heat) - 1 : -1]
        scores = (logits / torch.tensor(heat)[:, None]).log_softmax(-1)
        values = -(scores.exp() * scores).sum(-1)
        for temperature, value, logprob in zip(heat, values.tolist(), completion.logprobs or (), strict=True):
            entropy[temperature].append(value)
            surprise[temperature].append(-logprob)
    assert mean(entropy[1.2]) > mean(entropy[0.6]) + 1
    for temperature in (0.6, 1.2):
        assert mean(surprise[temperature]) == pytest.approx(mean(entropy[temperature]), abs=0.3)


def test_a_given_beginning_can_open_the_span(tagging: HFModel) -> None:
    prompt = [*PROMPTS[0], Message("assistant", "<explore>")]
    sampling = Sampling(temperature=0.6, max_tokens=1, mixed=TAG)
    assert [c.temperatures for c in tagging.generate([prompt, PROMPTS[0]], [sampling] * 2)] == [(1.2,), (0.6,)]


def test_markers_need_not_be_the_same_in_a_batch(tagging: HFModel) -> None:
    other = MixedTemperature("e", "s", 2.0)
    samplings = [Sampling(max_tokens=60, seed=1, mixed=mixed) for mixed in (TAG, other, None)]
    answers = tagging.generate(PROMPTS[:3], samplings)
    assert [
        set(answer.temperatures or ()) <= kinds for answer, kinds in zip(answers, ({1, 1.2}, {1, 2}, {1}), strict=True)
    ]
    alone = [tagging.generate([prompt], [sampling])[0] for prompt, sampling in zip(PROMPTS[:3], samplings, strict=True)]
    assert [answer.token_ids for answer in alone] == [answer.token_ids for answer in answers]


def test_markers_that_are_not_ascii_are_refused(tiny: HFModel) -> None:
    with pytest.raises(UnsupportedError, match="ASCII"):
        tiny.generate(PROMPTS[:1], [Sampling(mixed=MixedTemperature("«", "»", 1.2))])


# ---- batches


def test_greedy_answers_do_not_depend_on_the_batch(tiny: HFModel) -> None:
    greedy = Sampling(temperature=0, max_tokens=24)
    together = tiny.generate(PROMPTS, [greedy] * 8)
    alone = [tiny.generate([prompt], [greedy])[0] for prompt in PROMPTS]
    assert [answer.token_ids for answer in together] == [answer.token_ids for answer in alone]
    assert len({answer.token_ids for answer in alone}) > 1


def test_greedy_is_what_transformers_says(folder: Path, tiny: HFModel) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    (answer,) = tiny.generate(PROMPTS[:1], [Sampling(temperature=0, max_tokens=16)])
    expected = model.generate(torch.tensor([answer.prompt_ids]), do_sample=False, max_new_tokens=16)
    assert expected[0, answer.prompt_tokens :].tolist() == list(answer.token_ids or ())


def test_the_same_prompt_and_seed_give_the_same_answer_in_any_batch(tiny: HFModel) -> None:
    samplings = [
        Sampling(max_tokens=24, seed=3),
        Sampling(max_tokens=12, seed=3, temperature=0.7),
        Sampling(max_tokens=24, seed=3, top_k=20),
        Sampling(max_tokens=24, seed=4, top_p=0.9),
        Sampling(max_tokens=24, seed=4, min_p=0.05),
        Sampling(max_tokens=24, seed=5, mixed=MixedTemperature("e", "s", 1.5)),
        Sampling(max_tokens=24, temperature=0),
        Sampling(max_tokens=5, seed=6),
    ]
    together = [answer.token_ids for answer in tiny.generate(PROMPTS, samplings)]
    backwards = tiny.generate(PROMPTS[::-1], samplings[::-1])[::-1]
    alone = [tiny.generate([prompt], [one])[0] for prompt, one in zip(PROMPTS, samplings, strict=True)]
    assert together == [answer.token_ids for answer in alone] == [answer.token_ids for answer in backwards]
    assert tiny.generate(PROMPTS[:1], [Sampling(max_tokens=24, seed=9)])[0].token_ids != together[0]


def test_without_a_seed_answers_differ(tiny: HFModel) -> None:
    one, two = tiny.generate([PROMPTS[0]] * 2, [Sampling(max_tokens=24)] * 2)
    assert one.token_ids != two.token_ids


def test_the_luck_of_a_seed_is_another_for_another_prompt(tiny: HFModel) -> None:
    """Else every step of an episode would draw at the same place of its distribution."""
    answers = tiny.generate(PROMPTS, [Sampling(temperature=50.0, max_tokens=1, seed=0)] * 8)
    assert len({answer.token_ids for answer in answers}) > 4


def test_a_small_budget_gives_the_same_answers(folder: Path, tiny: HFModel) -> None:
    small = HFModel(folder, batch_tokens=100, local_files_only=True, device="cpu")
    sizes: list[int] = []
    run = small._run
    small._run = lambda batch: (sizes.append(len(batch)), run(batch))[1]
    samplings = [Sampling(max_tokens=16, seed=seed) for seed in range(8)]
    found = small.generate(PROMPTS, samplings)
    assert [a.token_ids for a in found] == [a.token_ids for a in tiny.generate(PROMPTS, samplings)]
    assert sum(sizes) == 8 and len(sizes) > 2


def test_a_batch_that_does_not_fit_is_halved(tiny: HFModel, monkeypatch: pytest.MonkeyPatch) -> None:
    run, sizes = tiny._run, []

    def cramped(batch: Any) -> Any:
        sizes.append(len(batch))
        if len(batch) > room:
            raise torch.OutOfMemoryError
        return run(batch)

    monkeypatch.setattr(tiny, "_run", cramped)
    room = 2
    assert len(tiny.generate(PROMPTS, [Sampling(max_tokens=2)] * 8)) == 8 and sizes == [8, 4, 2, 2, 4, 2, 2]
    room = 0
    with pytest.raises(ModelError, match="no memory"):
        tiny.generate(PROMPTS, [Sampling(max_tokens=2)] * 8)


def test_nothing_asked_nothing_answered(tiny: HFModel) -> None:
    assert tiny.generate([], []) == []


# ---- ends


def test_max_tokens_is_kept_row_by_row(tiny: HFModel) -> None:
    answers = tiny.generate(PROMPTS[:3], [Sampling(max_tokens=n, seed=1) for n in (1, 7, 20)])
    assert [(a.completion_tokens, a.finish, len(a.logprobs or ())) for a in answers] == [
        (1, "length", 1),
        (7, "length", 7),
        (20, "length", 20),
    ]


def test_a_stop_string_ends_the_text_before_it(tiny: HFModel) -> None:
    (free,) = tiny.generate(PROMPTS[:1], [Sampling(max_tokens=60, seed=2)])
    stop = free.text[20:24]  # crosses the borders of tokens
    stopped, other = tiny.generate(
        PROMPTS[:2], [Sampling(max_tokens=60, seed=2, stop=("\x00\x00", stop)), Sampling(max_tokens=60, seed=2)]
    )
    assert stopped.text == free.text[: free.text.index(stop)] and stopped.finish == "stop"
    tokens = stopped.token_ids or ()
    assert tokens == (free.token_ids or ())[: len(tokens)] and len(tokens) < 60
    assert stop in tiny._decode(list(tokens)) and stop not in tiny._decode(list(tokens[:-1]))
    assert other.finish == "length" and other.completion_tokens == 60


def test_the_end_token_ends_the_response_and_is_kept(folder: Path, network: Any) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        network.lm_head.bias[tokenizer.eos_token_id] = 40.0
    try:
        (answer,) = HFModel(Loaded(network, tokenizer)).generate(PROMPTS[:1], [Sampling(max_tokens=1)])
    finally:
        with torch.no_grad():
            network.lm_head.bias[tokenizer.eos_token_id] = 0.0
    assert (answer.text, answer.finish, answer.token_ids) == ("", "stop", (tokenizer.eos_token_id,))


def test_a_prompt_that_fills_the_context_is_an_error_and_a_long_answer_is_cut(tiny: HFModel) -> None:
    with pytest.raises(ModelError, match="shorter than the context"):
        tiny.generate([[Message("user", " look\n" * 2100)]], [Sampling(max_tokens=1)])
    (answer,) = tiny.generate([[Message("user", " look\n" * 2040)]], [Sampling(max_tokens=500)])
    assert answer.finish == "length" and answer.completion_tokens < 20
    assert answer.prompt_tokens + answer.completion_tokens == 4096


# ---- prompts and recipe


def test_the_chat_template_is_used_and_recorded(folder: Path, tiny: HFModel) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    prompt = [Message("system", "S"), Message("user", "U")]
    (answer,) = tiny.generate([prompt], [Sampling(max_tokens=1)])
    assert (
        tokenizer.decode(answer.prompt_ids)
        == "<|start|>system\nS<|end|>\n<|start|>user\nU<|end|>\n<|start|>assistant\n"
    )
    (answer,) = tiny.generate([[*prompt, Message("assistant", "<explore>a")]], [Sampling(max_tokens=1)])
    assert tokenizer.decode(answer.prompt_ids).endswith("<|start|>assistant\n<explore>a")
    assert len(tiny.details["chat_template"]) == 16 and tiny.details["dtype"] == "float32"
    assert tiny.name == f"hf:{folder}"


def test_without_a_chat_template_messages_are_joined(folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = None
    plain = HFModel(Loaded(transformers.AutoModelForCausalLM.from_pretrained(folder), tokenizer))
    (answer,) = plain.generate([[Message("user", "A"), Message("user", "B")]], [Sampling(max_tokens=1)])
    assert tokenizer.decode(answer.prompt_ids) == "A\n\nB\n\n" and plain.details["chat_template"] is None


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=-1),
        Sampling(temperature=float("nan")),
        Sampling(top_p=0),
        Sampling(top_k=-1),
        Sampling(min_p=2),
        Sampling(max_tokens=0),
        Sampling(stop=("",)),
        Sampling(mixed=MixedTemperature("a", "b", -1)),
    ],
)
def test_a_sampling_that_makes_no_sense_is_refused(tiny: HFModel, sampling: Sampling) -> None:
    with pytest.raises(ValueError, match="Expected"):
        tiny.generate(PROMPTS[:1], [sampling])


def test_a_model_being_trained_stays_in_training(folder: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).train()
    defaults = model.generation_config
    held = HFModel(Loaded(model, transformers.AutoTokenizer.from_pretrained(folder)))
    held.generate(PROMPTS[:1], [Sampling(max_tokens=2)])
    assert model.training and model.generation_config is defaults
    held.close()
    held.close()
    with pytest.raises(ModelError, match="closed"):
        held.generate(PROMPTS[:1], [Sampling()])


def test_no_such_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Expected a folder or the name of a model"):
        HFModel(tmp_path / "nothing", local_files_only=True)


def test_without_torch_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(DependencyNotInstalled, match=r"backtrail\[train\]"):
        HFModel("anything")


def test_importing_does_not_import_torch() -> None:
    names = ("hf", "logprobs", "mixed", "tiny")
    code = f"import sys, {', '.join(f'backtrail.agents.models.{name}' for name in names)}; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# ---- truncation and draws


def test_truncation_keeps_what_transformers_keeps() -> None:
    logits = torch.randn(6, 50, generator=torch.Generator().manual_seed(0)) * 2
    zero, one = torch.zeros(6), torch.ones(6)
    for name, value, warper in (
        ("top_k", 7, transformers.TopKLogitsWarper(7)),
        ("top_p", 0.8, transformers.TopPLogitsWarper(0.8)),
        ("min_p", 0.1, transformers.MinPLogitsWarper(0.1)),
    ):
        settings = {"top_k": zero.long(), "top_p": one, "min_p": zero}
        settings[name] = torch.full_like(settings[name], value)
        kept = truncate(logits.log_softmax(-1), **settings) > 0
        assert torch.equal(kept, torch.isfinite(warper(None, logits))), name
    untouched = truncate(logits.log_softmax(-1), zero.long(), one, zero)
    torch.testing.assert_close(untouched, logits.softmax(-1))


def test_draws_follow_the_distribution() -> None:
    probabilities = torch.tensor([0.0, 0.5, 0.2, 0.0, 0.3, 0.0]) * 7
    uniform = torch.rand(10_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    drawn = pick(probabilities.expand(10_000, -1), uniform)
    counts = np.bincount(drawn.numpy(), minlength=6)
    assert counts[[0, 3, 5]].sum() == 0
    expected = np.array([5000, 2000, 3000])
    assert ((counts[[1, 2, 4]] - expected) ** 2 / expected).sum() < 13.8, "chi-square, 2 degrees of freedom, p = 0.001"
    assert pick(probabilities.expand(2, -1), torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)).tolist() == [1, 4]


# ---- pictures

IMAGE_TEMPLATE = """\
{%- for message in messages -%}
<|start|>{{ message.role }}
{% for part in message.content %}{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}{% endfor %}<|end|>
{% endfor -%}
{%- if add_generation_prompt %}<|start|>assistant
{% endif -%}
"""


@pytest.fixture(scope="module")
def seeing(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> HFModel:
    """A random LLaVA (CLIP tower, Qwen3 text model) written to a folder and loaded by it."""
    path = tmp_path_factory.mktemp("models") / "llava"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]}, replace_extra_special_tokens=False)
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    transformers.LlavaProcessor(
        image_processor=CLIPImageProcessorPil(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=IMAGE_TEMPLATE,
    ).save_pretrained(path)
    text = transformers.AutoConfig.from_pretrained(folder)
    text.vocab_size = len(tokenizer)
    vision = transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, image_size=28, patch_size=14
    )
    config = transformers.LlavaConfig(
        vision_config=vision, text_config=text, image_token_id=tokenizer.convert_tokens_to_ids("<image>")
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.LlavaForConditionalGeneration(config)
    with torch.no_grad():
        model.model.multi_modal_projector.linear_2.weight.mul_(50)  # or a random tower is not heard
    model.save_pretrained(path)
    return HFModel(path, local_files_only=True, device="cpu")


def picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def test_pictures_are_seen_and_batches_do_not_mix_them(seeing: HFModel) -> None:
    prompts: list[Prompt] = [
        [Message("user", "What now?", (picture(1),))],
        [Message("user", "What now?", (picture(2), picture(1)))],
        [Message("user", "What now?")],
        [Message("user", "You are in a room. What now?", (picture(2),))],
    ]
    sampling = Sampling(temperature=0.7, max_tokens=12, seed=1, mixed=MixedTemperature("e", "s", 1.5))
    together = seeing.generate(prompts, [sampling] * 4)
    alone = [seeing.generate([prompt], [sampling])[0] for prompt in prompts]
    assert [answer.token_ids for answer in together] == [answer.token_ids for answer in alone]
    assert [
        together[0].prompt_tokens - together[2].prompt_tokens,
        together[1].prompt_tokens - together[0].prompt_tokens,
    ] == [4, 4]
    (other,) = seeing.generate([[Message("user", "What now?", (picture(3),))]], [sampling])
    assert other.prompt_ids == together[0].prompt_ids and other.logprobs != together[0].logprobs


def test_log_probabilities_after_a_picture(seeing: HFModel) -> None:
    prompt: Prompt = [Message("user", "What now?", (picture(1),))]
    (answer,) = seeing.generate([prompt], [Sampling(max_tokens=12, seed=1, mixed=MixedTemperature("e", "s", 1.5))])
    _, features = seeing._encode(prompt)
    with torch.inference_mode():
        (scores,) = token_logprobs(
            seeing._model, [answer.prompt_ids or ()], [answer.token_ids or ()], [answer.temperatures or ()], **features
        )
    assert (scores - torch.tensor(answer.logprobs)).abs().max() < 1e-4


def test_a_text_model_takes_no_pictures(tiny: HFModel) -> None:
    with pytest.raises(UnsupportedError, match="takes no pictures"):
        tiny.generate([[Message("user", "What now?", (picture(1),))]], [Sampling()])
