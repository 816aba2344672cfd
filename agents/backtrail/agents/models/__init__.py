"""Language models behind one protocol: transformers, vLLM, and any OpenAI-compatible server."""

from backtrail.agents.models.base import (
    Completion,
    Message,
    MixedTemperature,
    Model,
    ModelError,
    Sampling,
    UnsupportedError,
)

__all__ = ["Completion", "Message", "MixedTemperature", "Model", "ModelError", "Sampling", "UnsupportedError"]
