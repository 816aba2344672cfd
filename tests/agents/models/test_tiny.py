"""The tiny model: made offline, the same bytes each time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gymnasium.error import DependencyNotInstalled

from backtrail.agents.models.tiny import TAGS, VERSION, build_tiny, cache_folder
from backtrail.agents.response import parse

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

BUILD = "import sys; from backtrail.agents.models.tiny import build_tiny; build_tiny(sys.argv[1])"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny(tmp_path_factory.mktemp("models") / "tiny")


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_it_is_a_qwen3_of_some_four_hundred_thousand_parameters(tiny: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny)
    assert type(model).__name__ == "Qwen3ForCausalLM"
    assert 3e5 < sum(parameter.numel() for parameter in model.parameters()) < 5e5
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    assert len(tokenizer) == model.config.vocab_size


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONHASHSEED": "7", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", BUILD, str(tmp_path / "again")], check=True, env=environment, timeout=300)
    assert digests(tmp_path / "again") == digests(tiny)


def test_the_seed_is_that_of_the_weights_and_the_global_generator_is_left_alone(tiny: Path, tmp_path: Path) -> None:
    before = torch.get_rng_state()
    other = digests(build_tiny(tmp_path / "other", seed=1))
    assert torch.equal(torch.get_rng_state(), before)
    same = digests(tiny)
    assert {name for name in same if same[name] != other[name]} == {"model.safetensors"}


def test_it_is_built_once_and_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: Path) -> None:
    monkeypatch.setenv("BACKTRAIL_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    (tmp_path / f"tiny-{VERSION}-3").symlink_to(tiny)
    assert build_tiny(seed=3) == tmp_path / f"tiny-{VERSION}-3"
    monkeypatch.delenv("BACKTRAIL_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "backtrail"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="new or empty"):
        build_tiny(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_every_text_survives_the_tokenizer_but_for_a_space_before_it(tiny: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    for text in ("go to desk 1", " two  spaces\n", "é 漢字 \U0001f600", "don't .  !"):
        assert tokenizer.decode(tokenizer(text)["input_ids"]).removeprefix(" ") == text.removeprefix(" ")
    said = "<explore>drawer 1</explore>\n<memory>m</memory>\n<action>go to drawer 1</action>"
    ids = tokenizer(said)["input_ids"]
    assert parse(tokenizer.decode(ids)) == parse(said)
    assert [ids.count(tokenizer.convert_tokens_to_ids(tag)) for tag in TAGS] == [1] * 6, "a tag is one token"
    assert tokenizer("drawer")["input_ids"] == tokenizer(" drawer")["input_ids"], "a word is one, wherever it stands"
    assert len(tokenizer("go to countertop 1")["input_ids"]) <= 5, "the environment's own words are short"


def test_the_template_marks_the_turns(tiny: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True
    )
    assert text == "<|start|>user\nHi<|end|>\n<|start|>assistant\n"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert ids.count(tokenizer.eos_token_id) == 1 and ids.count(tokenizer.convert_tokens_to_ids("<|start|>")) == 2


def test_without_torch_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(DependencyNotInstalled, match=r"backtrail\[train\]"):
        build_tiny(tmp_path / "tiny")
