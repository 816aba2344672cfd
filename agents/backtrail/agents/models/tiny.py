"""A language model of three million parameters, made here: every path that needs a model runs without a download.

The architecture is Qwen3's, the weights are random, the tokenizer is a byte-level BPE trained on games of the generated
ALFWorld. It writes noise until it is trained; what it is for is testing, and learning in a minute on a CPU.
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
from backtrail.agents.models.hf_load import import_transformers, no_progress_bar

__all__ = ["VERSION", "build_tiny", "cache_folder"]

VERSION = 1
"""Rises with every change of the files `build_tiny` writes."""

VOCABULARY = 2048  # at most: the games have fewer words
SPECIAL = ("<|pad|>", "<|start|>", "<|end|>")
TAGS = ("explore", "memory", "action")

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


def _texts(games: int = 120) -> Iterator[str]:
    """Yield prompts and responses of the expert's play, in the form agents write them."""
    env = gym.make("backtrail/ALFWorld-v0", expert=True)
    for seed in range(games):
        observation, info = env.reset(seed=seed)
        done = False
        while not done:
            action = info["expert_plan"][0] if info["expert_plan"] else "look"
            yield f"{observation['goal']}\n{observation['text']}\n" + "\n".join(info["admissible_actions"])
            said = (f"Next I {action}.", observation["text"], action)
            yield "\n".join(f"<{tag}>{text}</{tag}>" for tag, text in zip(TAGS, said, strict=True))
            observation, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated or not info["expert_plan"]
    env.close()


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator(_texts(), trainer)
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
        hidden_size=192,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=32,
        intermediate_size=640,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.07,  # 1 / sqrt(hidden size): logits spread enough that temperatures matter
        dtype="float32",
    )
    with torch.random.fork_rng(devices=[]):  # transformers draws weights from the global generator
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)
