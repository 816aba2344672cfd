"""Fixtures for tests that need data from beside the checkout; they skip with a reason where it is absent."""

from __future__ import annotations

import importlib.util
import os
import tarfile
import tempfile
from pathlib import Path

import hypothesis
import pytest

# Time belongs into benchmarks, not into tests: a busy machine must not fail them.
hypothesis.settings.register_profile("backtrail", deadline=None)
hypothesis.settings.load_profile("backtrail")

ROOT = Path(__file__).resolve().parent.parent
ARCHIVE = ROOT.parent / "shared" / "data" / "alfworld" / "json_2.1.3_tw-pddl.tar.xz"


@pytest.fixture(scope="session")
def official() -> Path:
    """The folder of the official ALFWorld games, unpacked once a machine."""
    given = os.environ.get("ALFWORLD_DATA", "")  # merely importing alfworld sets it to an empty folder
    if any(Path(given).glob("**/game.tw-pddl") if given else ()):
        return Path(given)
    if not ARCHIVE.exists():
        pytest.skip(f"no official ALFWorld games: neither ALFWORLD_DATA nor {ARCHIVE}")
    folder = Path(tempfile.gettempdir()) / f"backtrail-tests-alfworld-{ARCHIVE.stat().st_size}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as draft, tarfile.open(ARCHIVE) as archive:
            archive.extractall(draft, filter="data")
            try:
                Path(draft).rename(folder)
                Path(draft).mkdir()
            except OSError:  # another test process was first
                assert folder.exists()
    return folder


@pytest.fixture(scope="session")
def textworld() -> None:
    """The original ALFWorld stack."""
    if importlib.util.find_spec("alfworld") is None or importlib.util.find_spec("textworld") is None:
        pytest.skip("the original stack is not installed (extra `alfworld`)")
