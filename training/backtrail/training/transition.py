"""`Transition`: one call of the model and what came of it, the unit that is rewarded, grouped and learned from."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

__all__ = ["Transition", "load_transitions", "save_transitions", "trajectories"]

FORMAT = 1
"""Rises with every change of the files `save_transitions` writes."""

Mode = Literal["plain", "negative", "positive"]


@dataclass(frozen=True, slots=True)
class Transition:
    """One step of a rollout, as it was sampled: token ids go into the loss as they came out of the model.

    Attributes:
        task_id: Which task; trajectories of one task share a baseline.
        episode: Which trajectory, unique within a batch.
        attempt: Which try of the same task within the trajectory (LaMer), from 0.
        step: Which step of the trajectory, from 0, counted over all its attempts.
        goal: The instruction.
        observation: The text the model was shown, s_t.
        next_observation: The text after the action, s_{t+1}.
        explore_before: The explore text carried into the prompt, e_{t-1}; "" at the start.
        memory_before: The memory text carried into the prompt, m_{t-1}; "" at the start.
        explore: What the model wrote, e_t; "" if it wrote none.
        memory: What the model wrote, m_t; "" if it wrote none.
        action: What the environment was given, a_t.
        valid: Whether the response had all required parts.
        fingerprint: Identity of s_t.
        visits: Earlier visits of it in this attempt (EAPO's kappa), 0 at first sight.
        reward: The environment's reward for the action.
        success: Whether the attempt reached the goal in the end.
        terminated: Whether the attempt ended with this step.
        truncated: Whether it was cut off here: a limit, or a fault of the environment.
        action_error: Why the environment did not take the action; "" if it did.
        prompt_ids: Token ids of the prompt.
        token_ids: Token ids of the response as drawn, the end token included.
        logprobs: Natural log-probability of each under the distribution it was drawn from.
        temperatures: The temperature each was drawn at.
        mode: Which reflection the prompt showed (SGE).
        reflection: Whether the response reflects on a failed attempt (LaMer) instead of acting.
        version: How many updates the model had seen.

    Raises:
        ValueError: If the token fields have different lengths or no tokens, or a number makes no sense.
    """

    task_id: str
    episode: str
    step: int
    goal: str
    observation: str
    next_observation: str
    explore: str
    memory: str
    action: str
    valid: bool
    fingerprint: str
    visits: int
    reward: float
    success: bool
    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    temperatures: tuple[float, ...]
    explore_before: str = ""
    memory_before: str = ""
    terminated: bool = False
    truncated: bool = False
    action_error: str = ""
    attempt: int = 0
    mode: Mode = "plain"
    reflection: bool = False
    version: int = 0

    def __post_init__(self):
        tokens = len(self.token_ids)
        if not tokens or not self.prompt_ids:
            raise ValueError(f"Expected a prompt and a response, got {len(self.prompt_ids)} and {tokens} tokens")
        if len(self.logprobs) != tokens or len(self.temperatures) != tokens:
            raise ValueError(
                f"Expected one log-probability and one temperature for each of {tokens} tokens, got "
                f"{len(self.logprobs)} and {len(self.temperatures)}"
            )
        if not all(math.isfinite(value) and value <= 1e-6 for value in self.logprobs):
            raise ValueError(f"Expected finite log-probabilities of at most 0, got {self.logprobs}")
        if self.step < 0 or self.visits < 0 or self.attempt < 0 or not math.isfinite(self.reward):
            raise ValueError(
                f"Expected step, visits and attempt of 0 or more and a finite reward, got {self.step}, {self.visits}, "
                f"{self.attempt} and {self.reward}"
            )
        if self.mode not in get_args(Mode):
            raise ValueError(f"Expected a mode of {', '.join(get_args(Mode))}, got {self.mode!r}")


_FIELDS = tuple(field.name for field in fields(Transition))


def trajectories(transitions: Sequence[Transition]) -> list[list[int]]:
    """Return the places of each trajectory's transitions, in the order of its steps.

    Raises:
        ValueError: If a step of a trajectory is missing or there twice.
    """
    places: dict[str, list[int]] = {}
    for place, transition in enumerate(transitions):
        places.setdefault(transition.episode, []).append(place)
    for episode, members in places.items():
        members.sort(key=lambda place: transitions[place].step)
        steps = [transitions[place].step for place in members]
        if steps != list(range(len(steps))):
            raise ValueError(f"Expected steps 0 to {len(steps) - 1} of episode {episode!r}, got {steps}")
    return list(places.values())


def save_transitions(path: str | Path, transitions: Iterable[Transition], **columns: Sequence[Any]) -> None:
    """Write transitions as JSON lines that read back exactly; an interrupted write leaves the old file.

    Args:
        path: The file.
        transitions: What to write.
        columns: Further values for each transition, by name, such as its reward parts.

    Raises:
        ValueError: If a column is named like a field of `Transition`, or has another length.
    """
    path, rows = Path(path), list(transitions)
    if wrong := [name for name, values in columns.items() if name in _FIELDS or len(values) != len(rows)]:
        raise ValueError(
            f"Expected columns of {len(rows)} values with other names than Transition's fields, got {', '.join(wrong)}"
        )
    draft = path.with_name(path.name + ".part")
    with draft.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"format": FORMAT, "rows": len(rows), "columns": sorted(columns)}) + "\n")
        for place, transition in enumerate(rows):
            extra = {name: values[place] for name, values in columns.items()}
            file.write(json.dumps(asdict(transition) | extra) + "\n")  # in ASCII: texts may hold other line ends
    os.replace(draft, path)


def load_transitions(path: str | Path) -> tuple[list[Transition], dict[str, list[Any]]]:
    """Read what `save_transitions` wrote: the transitions, and the further columns.

    Raises:
        ValueError: If the file is something else, or incomplete.
    """
    lines = Path(path).read_text("utf-8").splitlines()
    try:
        head = json.loads(lines[0])
        if head["format"] != FORMAT or head["rows"] != len(lines) - 1:
            raise ValueError(f"format {head['format']!r} with {len(lines) - 1} of {head['rows']} rows")
        rows = [json.loads(line) for line in lines[1:]]
        columns = {name: [row[name] for row in rows] for name in head["columns"]}
        return [Transition(**{name: _tuple(row[name]) for name in _FIELDS}) for row in rows], columns
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"Expected transitions (format {FORMAT}) in {path}: {error!r}") from error


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
