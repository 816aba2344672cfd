"""Checkpoints from which a run goes on exactly: weights, optimiser, q_phi, strategy buffers and counters.

Everything random in a run is drawn from its seed and the number of the iteration, so there is no generator to save. Nothing
is unpickled: tensors are safetensors files, the rest is JSON.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrail.agents.sge import Strategies
from backtrail.training.learner import Learner
from backtrail.training.posterior import Posterior

if TYPE_CHECKING:
    import torch

__all__ = ["latest", "load_checkpoint", "save_checkpoint"]

FORMAT = 1
KEPT = 2
"""Checkpoints that are kept."""


def save_checkpoint(
    folder: Path,
    stage: str,
    done: int,
    learner: Learner,
    *,
    posterior: Posterior | None = None,
    strategies: Strategies | None = None,
) -> Path:
    """Write a checkpoint, complete or not at all, and remove the oldest.

    Args:
        folder: Where checkpoints are kept.
        stage: Which stage of the run it is of.
        done: Steps or iterations of the stage that are done.
        learner: Weights and optimiser.
        posterior: q_phi, if there is one.
        strategies: SGE's buffers, if there are any.

    Returns:
        The checkpoint's folder.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(path.name) for path in _all(folder)), default=0)
    draft = folder / f"{number:06}.part"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    save_file(_weights(learner), draft / "weights.safetensors")
    save_file(_optimizer(learner), draft / "optimizer.safetensors")
    if posterior is not None:
        (draft / "posterior").mkdir()
        posterior.save(draft / "posterior")
    if strategies is not None:
        strategies.save(draft / "strategies.json")
    files = sorted(path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file())
    state = {
        "format": FORMAT,
        "stage": stage,
        "done": done,
        "version": learner.version,
        "files": files,
    }
    (draft / "state.json").write_text(json.dumps(state), "utf-8")
    os.replace(draft, folder / f"{number:06}")
    for path in _all(folder)[:-KEPT]:
        shutil.rmtree(path)
    return folder / f"{number:06}"


def latest(folder: Path) -> Path | None:
    """Return the newest checkpoint, None if there is none."""
    found = _all(folder) if folder.is_dir() else []
    return found[-1] if found else None


def read_state(path: Path) -> dict[str, Any]:
    """Return a checkpoint's plain values.

    Raises:
        ValueError: If it is of another format, or damaged.
    """
    try:
        state = json.loads((path / "state.json").read_text("utf-8"))
        if state["format"] != FORMAT:
            raise ValueError(f"format {state['format']!r}")
        if missing := [name for name in state["files"] if not (path / name).exists()]:
            raise ValueError(f"without {', '.join(missing)}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, error) from error
    return state


def load_checkpoint(path: Path, learner: Learner, *, posterior: Posterior | None = None) -> Strategies | None:
    """Put weights, optimiser and q_phi back; return the strategy buffers if there are any.

    A damaged checkpoint is an error, and no reason to take an older one unasked: an interrupted `save_checkpoint` leaves none
    behind, so something is wrong with the disk.

    Raises:
        ValueError: If the checkpoint is damaged, or of another model.
    """
    import torch

    state, weights, moments = read_state(path), _read(path, "weights"), _read(path, "optimizer")
    own = _weights(learner)
    if own.keys() != weights.keys() or any(own[name].shape != weights[name].shape for name in own):
        raise ValueError(f"Expected a checkpoint of this model in {path}: its weights have other names or shapes")
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(weights[name])
    for place, parameter in enumerate(learner.parameters):
        names = [name for name in moments if name.split(".")[0] == str(place)]
        if names:
            kept = {name.split(".")[1]: moments[name] for name in names}
            learner.optimizer.state[parameter] = {
                name: value if name == "step" else value.to(parameter.device) for name, value in kept.items()
            }
        else:
            learner.optimizer.state.pop(parameter, None)
    learner.version = state["version"]
    if posterior is not None:
        posterior.restore(path / "posterior")
    buffers = path / "strategies.json"
    return Strategies.load(buffers) if buffers.exists() else None


def _read(path: Path, name: str) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path / f"{name}.safetensors")
    except (OSError, SafetensorError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"Expected a checkpoint (format {FORMAT}) in {path}: {error!r}. Remove this folder to go on from the one before."
    )


def _weights(learner: Learner) -> dict[str, torch.Tensor]:
    """Return what is trained, by name; tied weights once."""
    named = learner.loaded.model.named_parameters()
    return {name: parameter.detach() for name, parameter in named if parameter.requires_grad}


def _optimizer(learner: Learner) -> dict[str, torch.Tensor]:
    return {
        f"{place}.{name}": value.detach().contiguous()
        for place, parameter in enumerate(learner.parameters)
        for name, value in learner.optimizer.state.get(parameter, {}).items()
    }


def _all(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.isdigit())
