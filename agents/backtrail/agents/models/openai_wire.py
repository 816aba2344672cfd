"""What goes over the wire to an OpenAI-compatible server, and what comes back."""

from __future__ import annotations

import base64
import email.utils
import io
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PIL import Image

from backtrail.agents.models.base import Completion, Finish, Message, ModelError, Prompt, UnsupportedError

__all__ = [
    "NOT_SAID",
    "Fault",
    "Reply",
    "ServerCompletion",
    "chat_fields",
    "join_messages",
    "overlap",
    "read_reply",
    "refusal",
    "retry_after",
]

NOT_SAID = object()
"""In place of the stop string that ended an answer: the server does not say which."""

_FINISH: dict[str, Finish] = {"stop": "stop", "eos_token": "stop", "stop_sequence": "stop", "length": "length"}
_TOO_LONG = re.compile(
    r"context.{0,20}(length|window)|maximum.{0,20}length|too long|too many tokens|max_model_len", re.IGNORECASE
)
_EXTENSIONS = (
    "top_k",
    "min_p",
    "continue_final_message",
    "add_generation_prompt",
    "return_token_ids",
    "seed",
    "logprobs",
)


@dataclass(frozen=True, slots=True)
class ServerCompletion(Completion):
    """What a server answered, and what that took.

    Attributes:
        latency: Seconds this answer alone took, retries and waits between them included.
        requests: Requests that were answered: more than one with a hot span.
        cost: US dollars at the prices given to the model, all requests; None without prices.
        forced_close: Whether a hot span outgrew its cap and was closed by us, not by the model.
    """

    latency: float = 0.0
    requests: int = 1
    cost: float | None = None
    forced_close: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One answered request; ``matched`` is the stop string that ended it, None, or `NOT_SAID`."""

    text: str
    finish: Finish
    matched: object
    prompt_tokens: int
    completion_tokens: int
    prompt_ids: tuple[int, ...] | None
    token_ids: tuple[int, ...] | None
    logprobs: tuple[float, ...] | None


class Fault(Exception):
    """Something that another try may cure, at the earliest after ``after`` seconds."""

    def __init__(self, said: str, after: float = 0.0):
        super().__init__(said)
        self.after = after


def chat_fields(prompt: Prompt, begun: str) -> dict[str, Any]:
    """Return messages, the last one open if the model shall go on with it."""
    messages = list(prompt)
    if begun:
        last = messages.pop() if messages and messages[-1].role == "assistant" else Message("assistant", "")
        messages.append(replace(last, content=last.content + begun))
    going_on = bool(messages) and messages[-1].role == "assistant"
    fields = {"continue_final_message": True, "add_generation_prompt": False} if going_on else {}
    return {"messages": [{"role": m.role, "content": _content(m)} for m in messages], **fields}


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.content
    pictures = [{"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images]
    return [*pictures, {"type": "text", "text": message.content}]


def _data_url(image: np.ndarray) -> str:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, format="PNG")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def read_reply(response: Any, said: str) -> Reply:
    """Read a chat or completions answer; whatever is not one is a fault."""
    try:
        data = response.json()
        choice = data["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        if not isinstance(text, str | None):
            raise TypeError(f"content is {type(text).__name__}")
        usage = data.get("usage") or {}
        reason = choice.get("finish_reason")
        if reason not in _FINISH:
            raise Fault(f"finish reason {reason!r}")
        return Reply(
            text=text or "",
            finish=_FINISH[reason],
            matched=_matched(choice),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
            prompt_ids=_tuple(choice.get("prompt_token_ids") or data.get("prompt_token_ids")),
            token_ids=_tuple(choice.get("token_ids")),
            logprobs=_logprobs(choice.get("logprobs")),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Fault(f"no well-formed answer ({type(error).__name__}: {error}): {said[:200]!r}") from error


def _matched(choice: Mapping[str, Any]) -> object:
    """Return the stop string that was met; vLLM calls it stop_reason, SGLang matched_stop."""
    if choice["finish_reason"] == "length":
        return None
    said = choice.get("stop_reason", choice.get("matched_stop", NOT_SAID))
    return None if isinstance(said, int) else said  # a number is the id of an end token


def _logprobs(said: Mapping[str, Any] | None) -> tuple[float, ...] | None:
    if not said:
        return None
    if said.get("content") is not None:
        return tuple(float(token["logprob"]) for token in said["content"])
    return _tuple(said.get("token_logprobs"))


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def refusal(server: str, status: int, said: str, body: Mapping[str, Any], key_variable: str) -> ModelError:
    """Return the error for an answer that no further try would change."""
    what = f"{server} refused with status {status}: {said}"
    if status in (401, 403):
        return ModelError(f"{what}. Set a valid key in the environment variable {key_variable}.")
    if status == 404:
        return ModelError(
            f"{what}. Check base_url (on most servers it ends in /v1) and the model name {body['model']!r}."
        )
    if _TOO_LONG.search(said) or status == 413:
        return ModelError(f"{what}. The prompt is too long: shorten it or serve the model with a longer context.")
    if refused := [name for name in _EXTENSIONS if name in body and name in said]:
        return UnsupportedError(f"{what}. The server does not take {', '.join(refused)}: sample without.")
    return ModelError(f"{what}. The request was not sent again.")


def overlap(text: str, marker: str) -> int:
    """Return how many characters of the marker the text already ends with."""
    return next((n for n in range(len(marker) - 1, 0, -1) if text.endswith(marker[:n])), 0)


def retry_after(value: str | None) -> float:
    """Return the seconds a Retry-After header asks for, given in seconds or as a date."""
    if not value:
        return 0.0
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return 0.0


def join_messages(prompt: Prompt) -> str:
    """Return a prompt as text for models without a chat template: a blank line after each message."""
    text = "\n\n".join(message.content for message in prompt)
    return text if prompt and prompt[-1].role == "assistant" else text + "\n\n"
