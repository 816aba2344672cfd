"""The tiny model with a plain tokenizer: text comes back to the letter, and the tags of the response are several tokens each."""

from __future__ import annotations

import json
from pathlib import Path

from backtrail.agents.models.tiny import TAGS, build_tiny

__all__ = ["build_plain"]


def build_plain(folder: Path) -> Path:
    """Write the tiny model to a folder, and take the tags and the leading space out of its tokenizer."""
    path = build_tiny(folder)
    file = path / "tokenizer.json"
    tokenizer = json.loads(file.read_text("utf-8"))
    tokenizer["added_tokens"] = [token for token in tokenizer["added_tokens"] if token["content"] not in TAGS]
    tokenizer["pre_tokenizer"]["add_prefix_space"] = tokenizer["decoder"]["add_prefix_space"] = False
    file.write_text(json.dumps(tokenizer), "utf-8")
    settings = path / "tokenizer_config.json"
    kept = json.loads(settings.read_text("utf-8"))
    kept["add_prefix_space"] = False
    settings.write_text(json.dumps(kept), "utf-8")
    return path
