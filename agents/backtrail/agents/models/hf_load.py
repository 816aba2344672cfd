"""Loading what transformers runs: weights, tokenizer and processor, from a folder or by name."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gymnasium.error import DependencyNotInstalled

from backtrail.agents.models.base import ModelError

__all__ = ["Loaded", "end_ids", "import_transformers", "load", "no_progress_bar"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Weights that are in memory already, e.g. those being trained.

    Attributes:
        model: A transformers model with a language-model head.
        tokenizer: Its tokenizer.
        processor: What prepares pictures, None for a text model.
        name: What results call it.
    """

    model: Any
    tokenizer: Any
    processor: Any = None
    name: str = "in memory"


def end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end a response: the tokenizer's, and those of the model's generation_config."""
    configured = getattr(model.generation_config, "eos_token_id", None)
    listed = configured if isinstance(configured, list) else [configured]
    return frozenset(int(token) for token in [*listed, tokenizer.eos_token_id] if token is not None)


def import_transformers() -> Any:
    """Return the package; raises `gymnasium.error.DependencyNotInstalled` if it or torch is missing."""
    try:
        import torch  # noqa: F401  # transformers imports without it
        import transformers
    except ImportError as error:
        raise DependencyNotInstalled(
            'Running a model in this process needs torch and transformers: pip install "backtrail[train]"'
        ) from error
    return transformers


def load(name: str, device: str | None, dtype: str, revision: str | None, local: bool) -> Loaded:
    """Load weights, tokenizer and, for a vision-language model, processor.

    Args:
        name: A folder, or a name on the Hugging Face hub.
        device: E.g. "cuda:1"; None for the first GPU, or the CPU.
        dtype: E.g. "bfloat16", or "auto".
        revision: A commit, tag or branch on the hub.
        local: Whether to use only what is on the disk.

    Raises:
        gymnasium.error.DependencyNotInstalled: If a package is missing.
        ModelError: If there is no such model.
    """
    import torch

    transformers = import_transformers()
    where = {"revision": revision, "local_files_only": local}
    try:
        config = transformers.AutoConfig.from_pretrained(name, **where)
        processor = None
        if getattr(config, "vision_config", None) is not None:
            factory = transformers.AutoModelForImageTextToText
            processor = transformers.AutoProcessor.from_pretrained(name, **where)
            tokenizer = processor.tokenizer
        else:
            factory = transformers.AutoModelForCausalLM
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, **where)
        with no_progress_bar(transformers):
            model = factory.from_pretrained(name, dtype=dtype, **where)
    except ImportError as error:  # the processors of some families need torchvision
        raise DependencyNotInstalled(
            f'{name} needs a package that is missing: pip install "backtrail[train]" torchvision ({str(error).strip()})'
        ) from error
    except (OSError, ValueError) as error:
        raise ModelError(f"Expected a folder or the name of a model, got {name!r}: {error}") from error
    return Loaded(
        model.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval(), tokenizer, processor, name
    )


@contextmanager
def no_progress_bar(transformers: Any) -> Generator[None]:
    """Keep transformers from drawing on the terminal, where a run has a progress bar of its own."""
    logging = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
