"""Options of ``backtrail run`` for agents that ask a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

__all__ = [
    "BaseUrl",
    "Batch",
    "MaxTokens",
    "MinP",
    "ModelName",
    "Prices",
    "Sge",
    "ShowAdmissible",
    "Temperature",
    "TopK",
    "TopP",
    "model_agent",
    "sampling_for",
]

ModelName = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", help="tiny, a folder, hf:NAME, vllm:NAME or openai:NAME; for explorer, brief, react, direct."
    ),
]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="openai: address of the server, e.g. http://127.0.0.1:8000/v1.")
]
Prices = Annotated[
    str | None, typer.Option(metavar="IN,OUT", help="openai: US dollars per million prompt and response tokens.")
]
Batch = Annotated[int, typer.Option(metavar="N", min=1, help="Environments that share a call of the model.")]
Temperature = Annotated[float, typer.Option(metavar="T", min=0, help="0 is greedy.")]
TopP = Annotated[float, typer.Option(metavar="P", min=0, max=1, help="Nucleus; 1 for none.")]
TopK = Annotated[int, typer.Option(metavar="K", min=0, help="The K likeliest tokens only; 0 for all.")]
MinP = Annotated[
    float, typer.Option(metavar="P", min=0, max=1, help="Least probability relative to the likeliest token.")
]
MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Longest response.")]
Sge = Annotated[
    bool, typer.Option("--sge", help="SGE's mixed temperature: the explorer's explore part hot, the rest cool.")
]
ShowAdmissible = Annotated[bool, typer.Option("--show-admissible", help="List the admissible actions in the prompt.")]


def model_agent(
    agent: dict[str, Any], model: str | None, base_url: str | None, prices: str | None, show_admissible: bool
) -> dict[str, Any]:
    """Return an agent as a recipe holds it, with what belongs to its model.

    Raises:
        ValueError: If an agent that asks a model has none, or another one has.
    """
    from backtrail.benchmarks.catalog import MODEL_AGENTS

    if agent["name"] not in MODEL_AGENTS:
        if model or base_url or prices or show_admissible:
            raise ValueError(
                f"--model, --base-url and --show-admissible are for {', '.join(MODEL_AGENTS)}, not {agent['name']}"
            )
        return agent
    if model is None:
        raise ValueError(
            f"The agent {agent['name']} asks a model: add --model tiny, a folder, hf:NAME, vllm:NAME or openai:NAME"
        )
    options: dict[str, Any] = {"model": model, "show_admissible": show_admissible}
    if (base_url or prices) and not model.startswith("openai:"):
        raise ValueError(f"--base-url and --prices are for openai:NAME, not {model}")
    if base_url:
        options.setdefault("model_options", {})["base_url"] = base_url
    if prices:
        options.setdefault("model_options", {})["prices"] = _prices(prices)
    return {**agent, "options": options}


def _prices(text: str) -> dict[str, float]:
    try:
        prompt, completion = map(float, text.split(","))
    except ValueError:
        raise ValueError(f"Expected two prices such as 0.15,0.6, got {text!r}") from None
    return {"prompt": prompt, "completion": completion}


def sampling_for(
    agent: str,
    benchmark: str,
    *,
    temperature: float,
    top_p: float,
    top_k: int,
    min_p: float,
    max_tokens: int,
    sge: bool,
) -> dict[str, Any] | None:
    """Return the sampling of a recipe, None for agents without a model.

    Raises:
        ValueError: If SGE is wanted of an agent that says no strategy.
    """
    from backtrail.agents.models.base import Sampling
    from backtrail.agents.sge import PRESETS, sampling
    from backtrail.benchmarks.catalog import MODEL_AGENTS

    if agent not in MODEL_AGENTS:
        return None
    chosen = Sampling(temperature=temperature, top_p=top_p, top_k=top_k, min_p=min_p, max_tokens=max_tokens)
    if sge:
        if agent != "explorer":
            raise ValueError(f"--sge needs an agent that says its strategy first (explorer), not {agent}")
        chosen = sampling(PRESETS[benchmark], chosen, "<explore>", "</explore>")
    return {**asdict(chosen), "stop": list(chosen.stop)}
