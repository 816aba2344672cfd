"""Run folders: nothing finished is lost, nothing is overwritten, damage is named; and the summary made from them."""

import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.benchmarks.comparison import compare
from backtrail.benchmarks.recipe import RunConfig, episode_seed
from backtrail.benchmarks.results import ResultsError, RunFolder, read_wall, write_json
from backtrail.benchmarks.statistics import wilson
from backtrail.benchmarks.summary import summary

TASKS = ["cook/0", "cook/1", "look/0", "look/1"]


def recipe(**changes) -> RunConfig:
    config = RunConfig(
        name="run",
        env_id="backtrail/ALFWorld-v0",
        env_kwargs={"split": "valid_seen", "task_types": ("cook", "look")},
        wrappers=["Fingerprint", "VisitCount", "Record"],
        agent={"name": "random", "options": {}},
        tasks=TASKS,
        episodes_per_task=2,
        seed=3,
        max_steps=50,
        rollback_methods=[],
        data="generated:v1",
        data_hash="ab" * 32,
    )
    return replace(config, **changes)


def row(config: RunConfig, number: int, success: bool = True, **changes) -> dict:
    episode = config.episodes()[number]
    return {
        "episode": episode.id,
        "task_id": episode.task_id,
        "attempt": episode.attempt,
        "seed": episode.seed,
        "task_type": episode.task_id.partition("/")[0],
        "data": config.data,
        "success": success,
        "return": float(success),
        "steps": 4,
        "terminated": success,
        "truncated": not success,
        "invalid_actions": 1,
        "unique_states": 3,
        "revisits": 2,
        "unique_by_step": [1, 2, 2, 3, 3],
        "rollbacks": {"exact": 0, "approximate": 0, "failed": 0, "unsupported": 0},
        "valid_turns": 4,
        "usage": {"prompt_tokens": 10},
        "final_fingerprint": "f",
        "steps_file": "steps/x.jsonl",
        "time": {"env": 1.0, "agent": 2.0, "total": 3.0},
    } | changes


def fault(config: RunConfig, number: int) -> dict:
    episode = config.episodes()[number]
    return {"episode": episode.id, "task_id": episode.task_id, "attempt": episode.attempt, "seed": episode.seed,
            "error": "OSError: gone", "traceback": "", "time_utc": "2026-01-01T00:00:00+00:00"}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "run"


def test_what_is_added_is_read_back(path):
    config = recipe()
    with RunFolder.start(path, config) as run:
        run.add_episode(row(config, 0))
        run.add_failure(fault(config, 1))
        run.add_episode(row(config, 2, success=False))
        during = RunFolder.open(path)
    after = RunFolder.open(path)
    assert during.episodes == after.episodes == run.episodes == [row(config, 0), row(config, 2, success=False)]
    assert after.failures == [fault(config, 1)]
    assert not after.config.differences(config)
    assert json.loads((path / "config.json").read_text())["format"] == "backtrail-run-1"


def test_a_run_is_never_overwritten(path):
    config = recipe()
    with RunFolder.start(path, config) as run:
        run.add_episode(row(config, 0))
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(ResultsError, match="already: add --resume to go on with it, or choose another name"):
        RunFolder.start(path, config)
    with pytest.raises(ResultsError, match=r"another recipe \(seed 3 there, 4 here; max_steps 50 there, 9 here\)"):
        RunFolder.start(path, recipe(seed=4, max_steps=9), resume=True)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_other_provenance_is_no_other_recipe(path):
    RunFolder.start(path, recipe(), resume=True).close()
    elsewhere = recipe(versions={"python": "3.99"}, machine={"cpus": 1}, command="backtrail run", git={"commit": "c"})
    RunFolder.start(path, elsewhere, resume=True).close()


def test_other_tasks_are_named_once():
    other = recipe(tasks=TASKS[:2], data_hash="cd" * 32)
    assert [difference.split()[0] for difference in recipe().differences(other)] == ["tasks"]


@settings(max_examples=40, deadline=None)
@given(cut=st.integers(0, 10_000), resumed=st.booleans())
def test_a_cut_off_line_is_dropped_and_replaced(tmp_path_factory, cut, resumed):
    path = tmp_path_factory.mktemp("runs") / "run"
    config = recipe()
    with RunFolder.start(path, config) as run:
        for number in range(4):
            run.add_episode(row(config, number))
    file = path / "episodes.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[: cut % (len(whole) + 1)])
    kept = file.read_bytes().count(b"\n")
    assert RunFolder.open(path).episodes == [row(config, number) for number in range(kept)]
    if resumed:
        with RunFolder.start(path, config, resume=True) as run:
            for number in range(len(run.episodes), 4):
                run.add_episode(row(config, number))
        assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("episodes.jsonl", "{}\n", r"episodes.jsonl, line 3, is no row of a run"),
        ("episodes.jsonl", "\0\0\0\n", r"episodes.jsonl, line 3, is damaged \(JSON expected\)"),
        ("episodes.jsonl", '{"episode":"cook/9#0"}\n', r"line 3: episode 'cook/9#0' is not in the plan"),
        ("episodes.jsonl", '{"episode":"cook/0#0"}\n', r"line 3: episode 'cook/0#0' is on line 1 already"),
        ("failures.jsonl", "[1]\n", r"failures.jsonl, line 1, is no row"),
    ],
)
def test_any_other_damage_is_an_error_with_file_and_line(path, file, text, message):
    config = recipe()
    with RunFolder.start(path, config) as run:
        run.add_episode(row(config, 0))
        run.add_episode(row(config, 1))
    with (path / file).open("a") as damaged:
        damaged.write(text)
    with pytest.raises(ResultsError, match=message):
        RunFolder.open(path)
    with pytest.raises(ResultsError, match=message):
        RunFolder.start(path, config, resume=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "config.json is damaged"), ("[]", "no run of format"), ('{"format": "x"}', "no run of format"),
     ('{"format": "backtrail-run-1", "name": "x"}', "config.json is not complete")],
)  # fmt: skip
def test_a_foreign_config_is_an_error(path, text, message):
    path.mkdir(parents=True)
    (path / "config.json").write_text(text)
    with pytest.raises(ResultsError, match=message):
        RunFolder.open(path)


def test_a_missing_run_is_an_error(path):
    with pytest.raises(ResultsError, match=r"Expected a run folder at .*run, with a config.json"):
        RunFolder.open(path)


def test_a_folder_of_something_else_is_left_alone(path):
    path.mkdir(parents=True)
    (path / "thesis.tex").write_text("mine")
    for resume in (False, True):
        with pytest.raises(ResultsError, match="a folder without config"):
            RunFolder.start(path, recipe(), resume=resume)
    assert [file.name for file in path.iterdir()] == ["thesis.tex"]


def test_a_start_that_was_killed_leaves_nothing_in_the_way(path):
    path.mkdir(parents=True)
    (path / "episodes.jsonl").touch()
    (path / "config.json.tmp").write_text('{"form')
    RunFolder.start(path, recipe()).close()
    assert RunFolder.open(path).episodes == []


def test_results_without_a_config_are_not_taken_over(path):
    path.mkdir(parents=True)
    (path / "episodes.jsonl").write_text('{"episode":"cook/0#0"}\n')
    with pytest.raises(ResultsError, match="a folder without config"):
        RunFolder.start(path, recipe())


@pytest.mark.skipif(sys.platform == "win32", reason="no lock there")
def test_one_process_writes(path):
    config = recipe()
    with RunFolder.start(path, config), pytest.raises(ResultsError, match="Another process is writing"):
        RunFolder.start(path, config, resume=True)
    RunFolder.start(path, config, resume=True).close()


def test_reading_does_not_write(path):
    config = recipe()
    RunFolder.start(path, config).close()
    with pytest.raises(ResultsError, match="opened for reading"):
        RunFolder.open(path).add_episode(row(config, 0))


def test_a_row_that_json_cannot_hold_is_refused(path):
    config = recipe()
    with RunFolder.start(path, config) as run, pytest.raises(ValueError, match="JSON"):
        run.add_episode(row(config, 0) | {"return": float("nan")})
    assert RunFolder.open(path).episodes == []


def test_every_episode_has_a_seed_of_its_own_in_every_process():
    seeds = {episode.seed for episode in recipe(episodes_per_task=50).episodes()}
    assert len(seeds) == 4 * 50
    code = "from backtrail.benchmarks.recipe import episode_seed; print(episode_seed(3, 'cook/0', 1))"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(elsewhere.stdout) == episode_seed(3, "cook/0", 1)


def test_the_wall_clock_of_earlier_sessions_is_known(tmp_path):
    assert read_wall(tmp_path) == 0.0
    write_json(tmp_path / "summary.json", {"time": {"wall": 2.5}})
    assert read_wall(tmp_path) == 2.5


# -- the summary ------------------------------------------------------------------------------------------


def all_rows(config: RunConfig) -> list[dict]:
    """Eight rows: cook/0 and look/0 are always won, cook/1 once, look/1 never."""
    won = [True, True, True, False, True, False, True, False]
    return [row(config, number, success, steps=number + 1) for number, success in enumerate(won)]


def test_summary_by_hand():
    config = recipe()
    rows = all_rows(config)
    rows[0]["rollbacks"] = {"exact": 3, "approximate": 1, "failed": 0, "unsupported": 0}
    found = summary(config, rows, [fault(config, 0)], wall=7.0)
    assert (found["episodes"], found["planned"], found["failures"]) == (8, 8, 0)
    assert found["success"]["successes"] == 5
    assert found["success"]["value"] == 5 / 8
    assert found["by_task_type"]["cook"] | {"low": 0, "high": 0} == {
        "value": 0.75,
        "n": 4,
        "successes": 3,
        "low": 0,
        "high": 0,
    }
    assert found["pass_at_k"] == {"1": 5 / 8, "2": 3 / 4}
    assert found["pass_hat_k"] == {"1": 5 / 8, "2": 2 / 4}
    assert found["steps"]["mean"] == 4.5
    assert found["invalid_action_rate"] == 8 / 36
    assert found["format_valid_rate"] == 32 / 36
    assert found["exploration"]["unique_states_per_step"] == 16 / 36
    assert found["exploration"]["revisit_rate"] == 16 / 36
    assert found["exploration"]["rollback_rate"] == 4 / 36
    assert found["exploration"]["rollback_success_rate"] == 3 / 4
    assert found["usage"] == {"prompt_tokens": 80}
    assert found["time"] == {"env": 8.0, "agent": 16.0, "total": 24.0, "wall": 7.0, "tokens_per_second": None}


def test_repeated_attempts_do_not_narrow_the_interval_for_nothing():
    config = recipe()
    same = [row(config, number, number % 4 in (0, 2)) for number in range(8)]  # both attempts at a task end alike
    assert summary(config, same)["success"]["low"] == pytest.approx(wilson(2, 4).low)
    assert summary(config, same[:4])["success"]["low"] == pytest.approx(wilson(2, 4).low)


def test_the_curve_keeps_episodes_that_have_ended():
    config = recipe()
    rows = [row(config, 0, unique_by_step=[1, 2]), row(config, 1, unique_by_step=[1, 1, 2, 3])]
    assert summary(config, rows)["exploration"]["new_states_curve"] == [1.0, 1.5, 2.0, 2.5]


def test_only_failures_without_a_result_count():
    config = recipe()
    faults = [fault(config, 0), fault(config, 1), fault(config, 1)]
    assert summary(config, [row(config, 0)], faults)["failures"] == 1


def test_an_empty_run_has_no_rates():
    found = summary(recipe(), [])
    assert found["success"] == {"value": None, "low": None, "high": None, "n": 0, "successes": 0}
    assert found["steps"]["mean"] is None
    assert found["exploration"]["new_states_curve"] == []
    json.dumps(found, allow_nan=False)


@given(st.randoms(use_true_random=False), st.integers(0, 8))
def test_the_order_of_lines_does_not_matter(generator: random.Random, number):
    config = recipe()
    rows = all_rows(config)[:number]
    expected = summary(config, rows)
    generator.shuffle(rows)
    assert summary(config, rows) == expected


# -- two runs ---------------------------------------------------------------------------------------------


def folder(path, config, rows) -> RunFolder:
    with RunFolder.start(path, config) as run:
        for each in rows:
            run.add_episode(each)
    return RunFolder.open(path)


def test_compare_by_hand(tmp_path):
    config = recipe(episodes_per_task=1)
    a = folder(tmp_path / "a", config, [row(config, n, n == 0, steps=10) for n in range(4)])
    b = folder(tmp_path / "b", config, [row(config, n, n < 3, steps=8) for n in range(4)])
    found = compare(a, b)
    success = found["success"]
    assert (success["both"], success["only_a"], success["only_b"], success["neither"]) == (1, 0, 2, 1)
    assert success["p_value"] == 0.5
    assert success["difference"]["value"] == 0.5
    assert found["steps"] == {"a": 10, "b": 8, "difference": {"value": -2, "low": -2, "high": -2}}
    assert found["notes"] == []


def test_compare_takes_common_episodes_and_says_so(tmp_path):
    config, fewer = recipe(), recipe(tasks=TASKS[1:], seed=9)
    a = folder(tmp_path / "a", config, all_rows(config))
    b = folder(tmp_path / "b", fewer, [row(fewer, n) for n in range(3)])
    found = compare(a, b)
    assert (found["episodes"], found["left_out"]) == (3, {"a": 5, "b": 0})
    assert list(found["recipe"]) == ["seed"]
    assert [line.split(":")[0] for line in found["notes"]] == [
        "The runs have different task lists",
        "A run is not complete.",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env_id": "backtrail/WebShop-v0"}, "different environment"),
        ({"data": "alfworld:json_2.1.3"}, "different data"),
        ({"data_hash": "cd" * 32}, "the same ids but are other worlds"),
    ],
)
def test_other_data_is_not_compared(tmp_path, changes, message):
    config, other = recipe(), recipe(**changes)
    a = folder(tmp_path / "a", config, all_rows(config))
    b = folder(tmp_path / "b", other, all_rows(other))
    with pytest.raises(ResultsError, match=message):
        compare(a, b)


def test_nothing_in_common_is_not_compared(tmp_path):
    config = recipe()
    a, b = folder(tmp_path / "a", config, [row(config, 0)]), folder(tmp_path / "b", config, [row(config, 1)])
    with pytest.raises(ResultsError, match="no finished episode in common"):
        compare(a, b)
