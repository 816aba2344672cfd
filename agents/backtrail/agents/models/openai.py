"""Any server that speaks OpenAI's chat or completions interface."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from types import ModuleType
from typing import Any, Literal
from urllib.parse import urlsplit

import gymnasium as gym

from backtrail.agents.models.base import (
    Completion,
    MixedTemperature,
    Model,
    ModelError,
    Prompt,
    Sampling,
    UnsupportedError,
)
from backtrail.agents.models.mixed import piece_temperatures
from backtrail.agents.models.openai_wire import (
    NOT_SAID,
    Fault,
    Reply,
    ServerCompletion,
    chat_fields,
    join_messages,
    overlap,
    read_reply,
    refusal,
    retry_after,
)

__all__ = ["OpenAIModel", "ServerCompletion"]


class OpenAIModel(Model):
    """A model behind an OpenAI-compatible server (vLLM, SGLang, llama.cpp, a vendor).

    A hot span is drawn in phases, one request each: cool up to the opening marker, hot up to the closing one, and so on.
    The server must say which stop string it met (vLLM and SGLang do). Such answers carry no token ids and no
    log-probabilities, because every phase tokenises the text so far anew; `VLLMModel` draws them in one go.

    Example:
        >>> model = OpenAIModel("qwen3", "http://127.0.0.1:8000/v1", prices={"prompt": 0.1, "completion": 0.4})
        >>> model.name
        'openai:qwen3'
        >>> model.close()
    """

    def __init__(
        self,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        *,
        endpoint: Literal["chat", "completions"] = "chat",
        key_variable: str = "OPENAI_API_KEY",
        concurrency: int = 8,
        connect_timeout: float = 10.0,
        read_timeout: float = 300.0,
        retries: int = 5,
        backoff: float = 0.5,
        longest_wait: float = 60.0,
        prices: Mapping[str, float] | None = None,
        logprobs: Literal["no", "raw", "processed"] = "no",
        token_ids: bool = False,
        span_tokens: int = 256,
        limit_field: str = "max_tokens",
        extra_body: Mapping[str, Any] | None = None,
        render: Callable[[Prompt], str] | None = None,
        seed: int = 0,
    ):
        """Make the client; nothing is sent yet.

        Args:
            model: The model's name on the server.
            base_url: Address up to and including the version, e.g. ``http://127.0.0.1:8000/v1``.
            endpoint: "chat" leaves the chat template to the server; "completions" sends plain text.
            key_variable: Environment variable that holds the API key. The key itself is never stored or shown.
            concurrency: Requests under way at a time, over all calls of `generate`.
            connect_timeout: Seconds to reach the server.
            read_timeout: Seconds without a byte from it.
            retries: Further tries after a fault.
            backoff: Seconds before the first further try; doubles each time, times a jitter in [0.5, 1.5).
            longest_wait: Cap of one wait; a server asking for more (Retry-After) counts as unable to answer.
            prices: US dollars per million tokens, ``{"prompt": ..., "completion": ...}``.
            logprobs: What the server's log-probabilities are: of the model's plain distribution ("raw", as most servers,
                usable only at temperature 1) or of the one sampled from ("processed", vLLM with
                ``--logprobs-mode processed_logprobs``). "no" does not ask for them.
            token_ids: Ask for token ids (vLLM's ``return_token_ids``).
            span_tokens: Cap of one hot span; a longer one is closed by us and flagged (``forced_close``).
            limit_field: The server's name for the length limit; some want ``max_completion_tokens``.
            extra_body: Fields added to every request.
            render: Prompt to text for "completions"; default: the messages, a blank line after each, for models
                without a chat template.
            seed: Of the jitter.

        Raises:
            gymnasium.error.DependencyNotInstalled: If the extra ``models`` is missing.
            ValueError: If the address is not an http address.
        """
        self._httpx = _import_httpx()
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"Expected base_url like http://127.0.0.1:8000/v1, got {base_url!r}")
        self.name = f"openai:{model}"
        self._server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"  # no credentials
        self.details = {
            "base_url": self._server,
            "endpoint": endpoint,
            "logprobs": logprobs,
            "span_tokens": span_tokens,
            "extra_body": dict(extra_body or {}),
        }
        self._model, self._endpoint, self._key_variable = model, endpoint, key_variable
        self._retries, self._backoff, self._longest_wait = retries, backoff, longest_wait
        self._prices, self._logprobs, self._token_ids = prices, logprobs, token_ids
        self._span_tokens, self._limit_field, self._extra = span_tokens, limit_field, dict(extra_body or {})
        self._render = render or join_messages
        self._jitter, self._closed = random.Random(seed), threading.Event()
        self._client = self._httpx.Client(timeout=self._httpx.Timeout(read_timeout, connect=connect_timeout, pool=None))
        self._url = base_url.rstrip("/") + ("/chat/completions" if endpoint == "chat" else "/completions")
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="openai")

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        """Answer many prompts at once, each with its own sampling, in the order of the prompts.

        Raises:
            UnsupportedError: If the server refuses a way of sampling.
            ModelError: If it cannot answer after all retries, refuses the key or the model, or a prompt is too long.
        """
        start = time.perf_counter()
        pairs = zip(prompts, sampling, strict=True)
        futures = [self._pool.submit(self._answer, prompt, how) for prompt, how in pairs]
        _, rest = wait(futures, return_when=FIRST_EXCEPTION)
        for future in rest:
            future.cancel()
        wait(futures)
        for future in futures:  # the first real error, not one of those that it cancelled
            if not future.cancelled() and (error := future.exception()):
                raise error
        seconds = time.perf_counter() - start
        return [replace(future.result(), seconds=seconds) for future in futures]

    def close(self) -> None:
        """Break off waits and close the connections; safe to call twice."""
        self._closed.set()
        self._pool.shutdown(cancel_futures=True)
        self._client.close()

    def _answer(self, prompt: Prompt, sampling: Sampling) -> ServerCompletion:
        start = time.perf_counter()
        if sampling.mixed:
            answer, replies = self._spans(prompt, sampling, sampling.mixed)
        else:
            replies = [self._ask(prompt, "", sampling, sampling.stop)]
            answer = self._whole(replies[0], sampling)
        length = sum(reply.completion_tokens for reply in replies)
        return replace(
            answer,
            completion_tokens=length,
            latency=time.perf_counter() - start,
            requests=len(replies),
            cost=self._cost(sum(reply.prompt_tokens for reply in replies), length),
        )

    def _whole(self, reply: Reply, sampling: Sampling) -> ServerCompletion:
        known = reply.token_ids or reply.logprobs
        return ServerCompletion(
            text=reply.text,
            finish=reply.finish,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            prompt_ids=reply.prompt_ids,
            token_ids=reply.token_ids,
            logprobs=reply.logprobs if self._meant(sampling) else None,
            temperatures=(float(sampling.temperature),) * len(known) if known else None,
        )

    def _spans(
        self, prompt: Prompt, sampling: Sampling, mixed: MixedTemperature
    ) -> tuple[ServerCompletion, list[Reply]]:
        """Draw a response phase by phase."""
        given = prompt[-1].content if prompt and prompt[-1].role == "assistant" else ""
        hot = piece_temperatures([""], mixed.open, mixed.close, 1.0, 0.0, before=given) == [1.0]
        replies: list[Reply] = []
        text, forced, finish, left = "", False, "length", sampling.max_tokens
        while left > 0:
            marker, limit = (mixed.close, min(left, self._span_tokens)) if hot else (mixed.open, left)
            phase = replace(sampling, temperature=mixed.hot if hot else sampling.temperature, max_tokens=limit)
            reply = self._ask(prompt, text, phase, (marker, *sampling.stop))
            self._check_phase(reply)
            replies.append(reply)
            text, left = text + reply.text, left - reply.completion_tokens
            capped = hot and reply.finish == "length" and left > 0
            if reply.matched != marker and not capped:
                finish = reply.finish
                break
            text += marker[overlap(text, marker) if capped else 0 :]
            hot, forced = not hot, forced or capped
        first = replies[0]
        answer = ServerCompletion(
            text, finish, first.prompt_tokens, 0, prompt_ids=first.prompt_ids, forced_close=forced
        )
        return answer, replies

    def _check_phase(self, reply: Reply) -> None:
        if reply.matched is NOT_SAID:
            raise UnsupportedError(
                f"{self._server} does not say which stop string ended an answer: no hot spans (`mixed`) there"
            )
        if not reply.completion_tokens:
            raise UnsupportedError(
                f"{self._server} does not count tokens: no hot spans (`mixed`) there, which share one budget"
            )

    def _ask(self, prompt: Prompt, begun: str, sampling: Sampling, stop: tuple[str, ...]) -> Reply:
        """Ask for what follows ``begun``, with retries."""
        body = self._body(prompt, begun, sampling, stop)
        tries = 0
        while True:
            tries += 1
            try:
                reply = self._post(body)
                if not (reply.text or begun or isinstance(reply.matched, str)):
                    raise Fault(f"an empty answer (finish reason {reply.finish!r})")
                return reply
            except Fault as fault:
                self._pause(fault, tries)

    def _pause(self, fault: Fault, tries: int) -> None:
        """Wait before another try.

        Raises:
            ModelError: If there shall be none.
        """
        if tries <= self._retries and fault.after <= self._longest_wait:
            pause = min(self._backoff * 2 ** (tries - 1) * (0.5 + self._jitter.random()), self._longest_wait)
            if not self._closed.wait(max(pause, fault.after)):
                return
        asked = f" and asks to wait {fault.after:.0f} s" if fault.after > self._longest_wait else ""
        raise ModelError(
            f"{self._server} gave no usable answer in {tries} tries{asked}; the last one got: {fault}. Check that it is up and not "
            "overloaded; lower `concurrency`, raise `retries` or `read_timeout`, then resume the run."
        ) from fault

    def _body(self, prompt: Prompt, begun: str, sampling: Sampling, stop: tuple[str, ...]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "temperature": sampling.temperature, "top_p": sampling.top_p}
        body[self._limit_field] = sampling.max_tokens
        optional = {"top_k": sampling.top_k, "min_p": sampling.min_p, "stop": list(stop)}
        body |= {name: value for name, value in optional.items() if value}
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if self._token_ids and not sampling.mixed:
            body["return_token_ids"] = True
        chat = self._endpoint == "chat"
        if self._meant(sampling):
            body["logprobs"] = True if chat else 0
        return body | (chat_fields(prompt, begun) if chat else self._plain(prompt, begun)) | self._extra

    def _plain(self, prompt: Prompt, begun: str) -> dict[str, Any]:
        if any(message.images for message in prompt):
            raise UnsupportedError('The completions end point takes no images: use endpoint="chat"')
        return {"prompt": self._render(prompt) + begun}

    def _meant(self, sampling: Sampling) -> bool:
        """Return whether the server's log-probabilities are those of the distribution drawn from, before truncation."""
        whole = sampling.top_p == 1 and not sampling.top_k and not sampling.min_p and not sampling.mixed
        return whole and (self._logprobs == "processed" or (self._logprobs == "raw" and sampling.temperature == 1))

    def _cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        if self._prices is None:
            return None
        return (prompt_tokens * self._prices["prompt"] + completion_tokens * self._prices["completion"]) / 1e6

    def _post(self, body: Mapping[str, Any]) -> Reply:
        """Send one request.

        Raises:
            Fault: If another try may help.
            ModelError: If none will.
        """
        key = os.environ.get(self._key_variable, "").strip()
        try:
            response = self._client.post(
                self._url, json=body, headers={"Authorization": f"Bearer {key}"} if key else {}
            )
        except self._httpx.RequestError as error:  # no connection, a time-out, a reset, half a body
            raise Fault(f"{type(error).__name__} ({error})") from error
        said = response.text[:500].replace(key or "\0", "***")  # some servers repeat the key
        if response.status_code == 200:
            return read_reply(response, said)
        if response.status_code in (408, 409, 425, 429) or response.status_code >= 500:
            raise Fault(f"status {response.status_code}: {said}", retry_after(response.headers.get("retry-after")))
        raise refusal(self._server, response.status_code, said, body, self._key_variable)


def _import_httpx() -> ModuleType:
    try:
        import httpx
    except ImportError as error:
        raise gym.error.DependencyNotInstalled('Servers need httpx. Run: pip install "backtrail[models]"') from error
    return httpx
