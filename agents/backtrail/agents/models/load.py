"""From a name to a model: what ``--model`` on the command line means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backtrail.agents.models.base import Model

__all__ = ["load_model"]


def load_model(spec: str, **options: Any) -> Model:
    """Return the model of a name.

    Args:
        spec: ``tiny`` (made here, a few million parameters, knows nothing), a folder, ``hf:NAME_OR_FOLDER``,
            ``vllm:NAME_OR_FOLDER`` (``vllm:tiny`` too) or ``openai:NAME``.
        **options: Passed to the back-end: `HFModel`, `VLLMModel` or `OpenAIModel`.

    Raises:
        ValueError: If it is none of these.
        gymnasium.error.DependencyNotInstalled: If the back-end's extra is missing.
        ModelError: If there is no such model.
    """
    backend, colon, name = spec.partition(":")
    if not colon and (spec == "tiny" or Path(spec).is_dir()):
        backend, name = "hf", spec
    if name == "tiny" and backend != "openai":
        from backtrail.agents.models.tiny import build_tiny

        name = str(build_tiny())
    if name and backend == "hf":
        from backtrail.agents.models.hf import HFModel

        return HFModel(name, **options)
    if name and backend == "vllm":
        from backtrail.agents.models.vllm import VLLMModel

        return VLLMModel(name, **options)
    if name and backend == "openai":
        from backtrail.agents.models.openai import OpenAIModel

        return OpenAIModel(name, **options)
    raise ValueError(f"Expected a model like tiny, a folder, hf:NAME, vllm:NAME or openai:NAME, got {spec!r}")
