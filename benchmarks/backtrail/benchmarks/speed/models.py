"""Throughput of model agents on ALFWorld: tokens and steps a second by batch size, and the environments' share of the time.

Run it as ``python -m backtrail.benchmarks.speed.models --model tiny --batch 1 --batch 8 --batch 32``.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from backtrail.agents.models.base import Model
from backtrail.agents.models.load import load_model
from backtrail.benchmarks.batch import play_batched
from backtrail.benchmarks.plan import plan

ID = "backtrail/ALFWorld-v0"


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description="Measure the throughput of model agents on ALFWorld.")
    parser.add_argument("--model", default="tiny", help="as in backtrail run --model")
    parser.add_argument("--batch", type=int, action="append", help="environments at a time; may be repeated")
    parser.add_argument("--steps", type=int, default=6, help="steps of each episode")
    parser.add_argument("--max-tokens", type=int, default=64)
    options = parser.parse_args()
    model = load_model(options.model)
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, ")
    sys.stdout.write(f"{model.name}, {options.max_tokens} tokens a response\n\n")
    sys.stdout.write(
        "| batch | episodes | steps/s | response tokens/s | prompt tokens/s | environments' share of the time |\n"
    )
    sys.stdout.write("| --- | --- | --- | --- | --- | --- |\n")
    for batch in options.batch or [1, 8, 32]:
        sys.stdout.write(measure(model, options.model, batch, options.steps, options.max_tokens))
        sys.stdout.flush()
    model.close()


def measure(model: Model, name: str, batch: int, steps: int, max_tokens: int) -> str:
    """Return a row: twice ``batch`` episodes (at least 8), after a first call that warms up."""
    agent = {"name": "explorer", "options": {"model": name}}
    sampling = {"temperature": 1.0, "max_tokens": max_tokens}
    recipe = plan("speed", ID, agent, limit=max(8, 2 * batch), max_steps=steps, sampling=sampling)
    with tempfile.TemporaryDirectory() as folder:
        list(play_batched(recipe, Path(folder) / "warm", recipe.episodes()[:1], model, 1))
        started = time.perf_counter()
        found = [each.row for each in play_batched(recipe, Path(folder) / "steps", recipe.episodes(), model, batch)]
        wall = time.perf_counter() - started
    total = sum(row["steps"] for row in found)
    tokens = sum(row["usage"]["completion_tokens"] for row in found)
    prompts = sum(row["usage"]["prompt_tokens"] for row in found)
    share = sum(row["time"]["env"] for row in found) / wall
    return f"| {batch} | {len(found)} | {total / wall:.2f} | {tokens / wall:,.0f} | {prompts / wall:,.0f} | {share:.2%} |\n"


if __name__ == "__main__":
    main()
