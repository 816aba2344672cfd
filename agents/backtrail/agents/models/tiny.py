"""A language model of 0.4 million parameters, made here: every path that needs a model runs without a download.

The architecture is Qwen3's, the weights are random, the tokenizer is a byte-level BPE trained on games of the generated
ALFWorld, in which every common word of the games is one token, and so is every tag of the response. For that a space goes
before each run of text that has none, which `backtrail.agents.response.parse` takes away again. It writes noise until it is
trained; what it is for is testing, and learning in minutes on a CPU.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.error import DependencyNotInstalled

import backtrail.envs  # noqa: F401  # registers the environments
from backtrail.agents.base import Task
from backtrail.agents.models.hf_load import import_transformers, no_progress_bar
from backtrail.agents.prompts import Prompts
from backtrail.agents.searcher import Searcher

__all__ = ["VERSION", "build_tiny", "cache_folder"]

VERSION = 2
"""Rises with every change of the files `build_tiny` writes."""

VOCABULARY = 2048  # at most: the games have fewer words
SPECIAL = ("<|pad|>", "<|start|>", "<|end|>")
TAGS = tuple(f"<{slash}{name}>" for name in ("explore", "memory", "action") for slash in ("", "/"))

TEMPLATE = """\
{%- for message in messages -%}
<|start|>{{ message.role }}
{{ message.content }}<|end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|start|>assistant
{% endif -%}
"""


def cache_folder() -> Path:
    """Return where things made once are kept: ``BACKTRAIL_CACHE``, or ``~/.cache/backtrail``."""
    return Path(os.environ.get("BACKTRAIL_CACHE") or Path.home() / ".cache" / "backtrail")


def build_tiny(folder: str | Path | None = None, seed: int = 0) -> Path:
    """Write the model and its tokenizer as a transformers folder, unless it is there.

    Args:
        folder: Where; by default a folder of the cache named after version and seed.
        seed: Seed of the weights. The tokenizer is the same for every seed.

    Returns:
        The folder.

    Raises:
        gymnasium.error.DependencyNotInstalled: If torch, transformers or tokenizers is missing.
        FileExistsError: If the folder holds something else.
    """
    path = Path(folder) if folder is not None else cache_folder() / f"tiny-{VERSION}-{seed}"
    if (path / "model.safetensors").exists():
        return path
    if path.exists() and any(path.iterdir()):
        raise FileExistsError(f"Expected a new or empty folder, got {path}")
    _require()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as draft:
        tokenizer = _tokenizer()
        tokenizer.save_pretrained(draft)
        with no_progress_bar(import_transformers()):
            _model(tokenizer, seed).save_pretrained(draft)
        try:
            Path(draft).rename(path)  # complete or not there, also if two processes build it
        except OSError:
            if not (path / "model.safetensors").exists():
                raise
        else:
            Path(draft).mkdir()  # for the context to remove
    return path


def _require() -> None:
    try:
        import tokenizers  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise DependencyNotInstalled(
            'The tiny model needs torch, transformers and tokenizers: pip install "backtrail[train]"'
        ) from error


def _texts(games: int = 150) -> Iterator[str]:
    """Yield prompts and responses of the searcher's play, in the form agents write them."""
    prompts = Prompts("brief", "alfworld")
    for data in ("generated", "generated-small"):
        env = gym.make("backtrail/ALFWorld-v0", data=data)
        for seed in range(games):
            observation, info = env.reset(seed=seed)
            searcher = Searcher()
            searcher.reset(Task("", info["task_id"], observation["goal"], seed))
            carried, done = {"explore": "", "memory": ""}, False
            while not done:
                variables = {**observation, **carried, "admissible": info["admissible_actions"]}
                yield f"user\n{prompts.render(variables)[0].content}"
                turn = searcher.act(observation, info)
                yield f"assistant\n{turn.response}"
                carried = {"explore": turn.explore, "memory": turn.memory}
                observation, _, terminated, truncated, info = env.step(turn.action)
                done = terminated or truncated
        env.close()


def _tokenizer() -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)  # a word is one token, wherever it stands
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator(_texts(), trainer)
    bpe.add_tokens([AddedToken(tag, normalized=False) for tag in TAGS])
    pad, start, end = SPECIAL
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        pad_token=pad,
        eos_token=end,
        additional_special_tokens=[start],
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def _model(tokenizer: Any, seed: int) -> Any:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        intermediate_size=256,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.09,  # 1 / sqrt(hidden size): logits spread enough that temperatures matter
        dtype="float32",
    )
    with torch.random.fork_rng(devices=[]):  # transformers draws weights from the global generator
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)
