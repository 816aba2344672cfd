"""Settings that make no sense are refused by name, and every method differs from the defaults only where it says so."""

from __future__ import annotations

import dataclasses

import pytest

from backtrail.training import PRESETS, Config, preset
from backtrail.training.presets import TINY


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_what_it_says_over_the_defaults(name: str):
    made, plain = preset(name).to_dict(), Config().to_dict()
    assert {key for key in made if made[key] != plain[key]} <= PRESETS[name].keys()
    assert preset(name, **(TINY | {"lr": 1.0})).lr == 1.0


def test_the_ablations_of_eapo_take_away_one_part_each():
    whole = preset("eapo").to_dict()
    for name, parts in {
        "eapo-no-explore": {"explore", "alpha_explore"},
        "eapo-no-grouping": {"groups", "fallback", "returns"},
        "eapo-no-format": {"alpha_format"},
    }.items():
        made = preset(name).to_dict()
        assert {key for key in made if made[key] != whole[key]} == parts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tasks": 0}, "tasks of 1 or more, got 0"),
        ({"gamma": 1.5}, "gamma from 0 to 1, got 1.5"),
        ({"temperature": 0.0}, "temperature above 0"),
        ({"groups": ()}, "one group or more"),
        ({"dual_clip": 0.5}, "dual_clip of 0 or above 1"),
        ({"overlong": 100, "max_tokens": 10}, "overlong of at most max_tokens"),
    ],
)
def test_values_that_make_no_sense_are_refused(changes: dict, message: str):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(Config(), **changes)


def test_an_unknown_method_or_setting_is_refused():
    with pytest.raises(ValueError, match="preset of sft, grpo"):
        preset("ppo")
    with pytest.raises(TypeError, match="learning_rate"):
        preset("grpo", learning_rate=1.0)
