"""Every wrapper records exactly its arguments, so that a spec rebuilds it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from backtrail.envs import Fingerprint, Record, Rollback, VisitCount
from backtrail.envs.testing import Corridor


@pytest.mark.parametrize("wrapper", [Fingerprint, Record, Rollback, VisitCount])
def test_recorded_arguments_are_those_of_the_constructor(wrapper: Any, tmp_path: Path) -> None:
    needed = {"folder": tmp_path} if wrapper is Record else {}
    env = wrapper(Corridor(3), **needed)
    assert set(env._saved_kwargs) == set(inspect.signature(wrapper).parameters) - {"env"}
    assert repr(env) == f"<{wrapper.__name__}<Corridor instance>>"
