"""Models for tests of the trainer, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that writes noise."""
    pytest.importorskip("transformers")
    from backtrail.agents.models.tiny import build_tiny

    return build_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def warm(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model after a few steps of imitation: some of its responses have the required form, others not."""
    import numpy as np
    from making_runs import RECIPE, loaded

    from backtrail.agents.explorer import BriefExplorer
    from backtrail.agents.models.hf import HFModel
    from backtrail.training.config import Config
    from backtrail.training.demonstrations import demonstrate, encode
    from backtrail.training.learner import Learner
    from backtrail.training.run import save_model

    learner = Learner(loaded(tiny), Config())
    shown = demonstrate(RECIPE, BriefExplorer(HFModel(learner.loaded)), 20, 0)
    rows = [encode(learner.loaded.tokenizer, each.prompt, each.response) for each in shown]
    rng = np.random.default_rng(0)
    for _ in range(25):
        learner.imitate([rows[int(place)] for place in rng.integers(len(rows), size=10)], 3e-3)
    folder = tmp_path_factory.mktemp("models") / "warm"
    save_model(learner, folder)
    return folder
