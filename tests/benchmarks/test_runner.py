"""Runs: the same result whatever happens on the way. Faults are never scored, and a killed run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import psutil
import pytest
from gymnasium import spaces

from backtrail.agents import AgentError
from backtrail.benchmarks import runner
from backtrail.benchmarks.catalog import agent_class, find_benchmark, parse_agent
from backtrail.benchmarks.episode import EpisodeRecord, Player, file_stem, stack
from backtrail.benchmarks.plan import plan, spread
from backtrail.benchmarks.recipe import RunConfig
from backtrail.benchmarks.results import ResultsError, RunFolder
from backtrail.benchmarks.runner import RunStopped, run
from backtrail.envs.wrappers import replay
from backtrail.envs.wrappers.record import read_episode

ENV = "backtrail/ALFWorld-v0"
SPLITS = {ENV: "valid_seen", "backtrail/WebShop-v0": "test", "backtrail/AndroidWorld-v0": "test"}

each_world = pytest.mark.parametrize("env_id", SPLITS)

# Agents for these tests; workers and other processes import them from a file.
AGENTS = '''
import os, time
from pathlib import Path
from backtrail.agents import Random, Turn

class Slow(Random):
    """Takes its time, so that it can be interrupted."""
    name = "slow"
    def act(self, observation, info):
        time.sleep(float(os.environ.get("SLOW", "0.003")))
        return super().act(observation, info)

class Faulty(Random):
    """Fails at every second task."""
    name = "faulty"
    def act(self, observation, info):
        if int(self.task.task_id[-4:]) % 2:
            raise RuntimeError("no idea")
        return super().act(observation, info)

class Broken(Random):
    name = "broken"
    def act(self, observation, info):
        raise RuntimeError("no idea")

class Deadly(Random):
    """Takes its process with it, the first time it meets a certain task."""
    name = "deadly"
    def __init__(self, folder=os.environ.get("DEADLY", ".")):
        self.mark = Path(folder) / "died"
    def act(self, observation, info):
        if "pick_two" in self.task.task_id:
            try:
                self.mark.touch(exist_ok=False)
                os._exit(9)
            except FileExistsError:
                pass
        return super().act(observation, info)

class Talker(Random):
    """Says what a model would say."""
    name = "talker"
    def act(self, observation, info):
        action = super().act(observation, info).action
        return Turn(action, "<explore>..", "a drawer", "a desk", len(self.task.task_id) % 2 == 0, {"prompt_tokens": 7})
'''


def _hears_ctrl_c() -> None:
    """A test run in the background has SIGINT ignored, which children inherit; a process at a terminal has not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def agents(tmp_path, monkeypatch):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "agents_for_tests.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("DEADLY", str(tmp_path))
    yield folder
    sys.modules.pop("agents_for_tests", None)


def make_plan(
    agent: str = "random", limit: int | None = 6, name: str = "run", env_id: str = ENV, **options
) -> RunConfig:
    kwargs = {"split": SPLITS[env_id]} | options.pop("env_kwargs", {})
    return plan(name, env_id, parse_agent(agent), env_kwargs=kwargs, limit=limit, **options)


def timeless(summary: dict) -> dict:
    return {key: value for key, value in summary.items() if key != "time"}


def rows_of(path: Path) -> list[dict]:
    rows = [{key: value for key, value in row.items() if key != "time"} for row in RunFolder.open(path).episodes]
    return sorted(rows, key=lambda row: row["episode"])


def steps_of(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (path / "steps").iterdir()}


# -- plans ------------------------------------------------------------------------------------------------


def test_a_plan_is_the_whole_recipe():
    config = make_plan("expert", 4, episodes_per_task=2, seed=5, rollback_methods=["act"], command="backtrail run ..")
    assert (config.env_id, config.max_steps, config.seed) == (ENV, 50, 5)
    assert config.env_kwargs == {"split": "valid_seen", "expert": True}
    assert config.wrappers == ["Fingerprint", "VisitCount", "Rollback", "Record"]
    assert len(config.tasks) == 4
    assert config.data == "generated:v1"
    assert {"python", "backtrail", "gymnasium", "numpy"} <= set(config.versions)
    json.dumps(config.to_json())


def test_the_data_hash_is_of_the_worlds_and_not_of_the_way_they_are_played():
    hashes = {make_plan(limit=4).data_hash, make_plan("expert", 4, seed=9).data_hash, make_plan("null", 4).data_hash}
    assert len(hashes) == 1
    assert make_plan(limit=3).data_hash not in hashes


def test_a_limit_is_spread_over_the_task_types():
    assert len({task.split("/")[1] for task in make_plan(limit=6).tasks}) == 6
    assert spread(list("abcdef"), 3) == ["a", "c", "e"]
    assert spread(list("abc"), 9) == ["a", "b", "c"]


def test_named_tasks_are_kept_in_order():
    tasks = ["valid_unseen/pick_two_obj_and_place/0007", "train/look_at_obj_in_light/0001"]
    assert make_plan(tasks=tasks, limit=None).tasks == tasks


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "../x"}, "plain folder name"),
        ({"name": ""}, "plain folder name"),
        ({"limit": 0}, "limit to be at least 1"),
        ({"episodes_per_task": 0}, "episodes per task to be at least 1"),
        ({"max_steps": 0}, "max steps to be at least 1"),
        ({"seed": -1}, "seed of at least 0"),
        ({"tasks": ["nowhere/0"]}, "Unknown task id 'nowhere/0'"),
        ({"tasks": ["train/look_at_obj_in_light/0001"] * 2}, "named more than once"),
        ({"env_kwargs": {"split": "test"}}, "Expected split to be one of"),
        ({"agent": "nobody"}, "Unknown agent 'nobody'"),
        ({"agent": "replay"}, "replay:FOLDER"),
        ({"agent": "random:x"}, "Unknown agent 'random:x'"),
        ({"agent": "no_such_module:Agent"}, "cannot be imported"),
        ({"agent": "json:nothing"}, "cannot be imported"),
    ],
)
def test_bad_plans_are_refused_with_a_reason(options, message):
    with pytest.raises(ValueError, match=message):
        make_plan(**options)


def test_agents_are_agents():
    with pytest.raises(TypeError, match=r"subclass of backtrail.agents.Agent"):
        agent_class("json:JSONDecoder")
    with pytest.raises(AgentError, match="Expected recorded episodes"):
        make_plan("replay:/no/such/folder")


def test_benchmarks_have_a_short_name_and_an_id():
    assert find_benchmark("alfworld") is find_benchmark(ENV)
    with pytest.raises(ValueError, match=r"expected one of alfworld \(backtrail/ALFWorld-v0\)"):
        find_benchmark("alfwrld")


# -- episodes ---------------------------------------------------------------------------------------------


@each_world
def test_a_row_and_its_steps_agree(tmp_path, agents, env_id):
    config = make_plan("agents_for_tests:Talker", 2, env_id=env_id, rollback_methods=["act", "restore"])
    run(config, tmp_path)
    for row in RunFolder.open(tmp_path / "run").episodes:
        first, *steps = read_episode(tmp_path / "run" / row["steps_file"])
        infos = [first["info"], *(step["info"] for step in steps)]
        assert row["steps"] == len(steps)
        assert row["return"] == sum(step["reward"] for step in steps)
        assert row["unique_by_step"] == [len({i["fingerprint"] for i in infos[: n + 1]}) for n in range(len(infos))]
        assert row["unique_states"] == row["unique_by_step"][-1]
        assert row["final_fingerprint"] == infos[-1]["fingerprint"]
        assert row["revisits"] == sum(info["visits"] > 0 for info in infos[1:])
        assert sum(row["rollbacks"].values()) == sum("rollback" in info for info in infos)
        assert row["usage"] == {"prompt_tokens": 7 * len(steps)}
        assert row["valid_turns"] in (0, len(steps))
        assert steps[0]["note"] == {
            "response": "<explore>..",
            "explore": "a drawer",
            "memory": "a desk",
            "valid": row["valid_turns"] > 0,
            "usage": {"prompt_tokens": 7},
        }
        assert 0 < row["time"]["env"] + row["time"]["agent"] <= row["time"]["total"]


@each_world
def test_recorded_episodes_replay_exactly(tmp_path, env_id):
    config = make_plan("random", 3, env_id=env_id, rollback_methods=["restore"])
    run(config, tmp_path)
    env = stack(config)
    for row in RunFolder.open(tmp_path / "run").episodes:
        found = replay(tmp_path / "run" / row["steps_file"], env)
        assert found.exact
        assert found.steps == row["steps"]


@each_world
def test_the_replay_agent_repeats_a_run(tmp_path, env_id):
    run(make_plan("expert", 6, env_id=env_id), tmp_path)
    again = run(make_plan(f"replay:{tmp_path / 'run'}", 6, name="again", env_id=env_id), tmp_path)
    assert again["success"]["successes"] == 6
    assert {row["final_fingerprint"] for row in rows_of(tmp_path / "run")} == {
        row["final_fingerprint"] for row in rows_of(tmp_path / "again")
    }


@each_world
def test_the_null_agent_wins_nothing_and_every_action_is_invalid(tmp_path, env_id):
    found = run(make_plan("null", 6, env_id=env_id, max_steps=5), tmp_path)
    assert found["success"]["successes"] == 0
    assert found["invalid_action_rate"] == 1
    assert found["exploration"]["unique_states_per_step"] == 0
    assert found["exploration"]["revisit_rate"] == 1


def test_attempts_differ_by_their_seed(tmp_path):
    run(make_plan("random", 1, episodes_per_task=2), tmp_path)
    first, second = rows_of(tmp_path / "run")
    assert first["seed"] != second["seed"]
    assert first["unique_by_step"] != second["unique_by_step"]


def test_file_names_are_safe_and_never_the_same():
    names = [file_stem(name) for name in ("a/b#0", "a.b#0", "a/b#1", "../../etc#0", "x" * 500, "ü ☕#0")]
    assert len(set(names)) == len(names)
    assert all(len(name) < 140 and not set(name) & set("/\\#: ") and name.isascii() for name in names)


class Camera(gym.Env):
    """Shows a picture."""

    observation_space = spaces.Dict({"screenshot": spaces.Box(0, 255, (4, 4, 3), np.uint8)})
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return {"screenshot": np.zeros((4, 4, 3), np.uint8)}, {}

    def step(self, action):
        return {"screenshot": np.ones((4, 4, 3), np.uint8)}, 0.0, False, False, {}


def test_an_episode_is_named_when_it_is_finished_and_its_pictures_go_with_it(tmp_path):
    env = EpisodeRecord(Camera(), tmp_path)
    env.begin("one")
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    assert not (tmp_path / "one.jsonl").exists()  # cut off here: the part and four pictures stay
    env.begin("one")
    env.reset(seed=0)
    env.step(0)
    assert env.finish() == tmp_path / "one.jsonl"
    rows = read_episode(tmp_path / "one.jsonl")
    pictures = [row["observation"]["screenshot"]["png"] for row in rows]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([*pictures, "one.jsonl"])


# -- faults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_fault_is_kept_apart_and_the_run_goes_on(tmp_path, agents, workers):
    config = make_plan("agents_for_tests:Faulty", 12)
    found = run(config, tmp_path, workers=workers)
    folder = RunFolder.open(tmp_path / "run")
    assert (found["episodes"], found["failures"], found["planned"]) == (6, 6, 12)
    assert found["success"]["n"] == len(folder.episodes) == len(folder.failures) == 6
    for row in folder.failures:
        assert row["error"] == "RuntimeError: no idea"
        assert "agents_for_tests.py" in row["traceback"]


def test_failed_episodes_are_tried_again_on_resume_up_to_the_cap(tmp_path, agents):
    config = make_plan("agents_for_tests:Faulty", 12)
    seen: list[runner.Progress] = []
    for session in range(5):
        run(config, tmp_path, resume=session > 0, retries=3, progress=seen.append)
    failures = RunFolder.open(tmp_path / "run").failures
    episodes = {row["episode"] for row in failures}
    assert (len(episodes), len(failures), seen[-1].given_up) == (6, 3 * 6, 6)
    run(config, tmp_path, resume=True, retries=4)
    assert len(RunFolder.open(tmp_path / "run").failures) == 4 * 6


def test_a_fault_of_the_environment_is_no_score_either(tmp_path, monkeypatch):
    config = make_plan("random", 3)
    from backtrail.envs.alfworld.env import ALFWorldEnv

    def fall(self, action):
        raise OSError("the device is gone")

    monkeypatch.setattr(ALFWorldEnv, "step", fall)
    player = Player(config, tmp_path)
    outcome = player.play(config.episodes()[0])
    assert not outcome.finished
    assert outcome.row["error"] == "OSError: the device is gone"
    monkeypatch.undo()
    assert player.play(config.episodes()[0]).finished  # in an environment made anew
    player.close()
    player.close()


def test_a_run_in_which_everything_fails_stops(tmp_path, agents):
    config = make_plan("agents_for_tests:Broken", 30)
    with pytest.raises(RunStopped, match="10 episodes in a row have failed, the last one with RuntimeError: no idea"):
        run(config, tmp_path)
    assert len(RunFolder.open(tmp_path / "run").failures) == 10
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["episodes"] == 0


@pytest.mark.slow
def test_a_worker_that_dies_costs_one_episode(tmp_path, agents):
    config = make_plan("agents_for_tests:Deadly", 12)
    found = run(config, tmp_path, workers=2)
    (failure,) = RunFolder.open(tmp_path / "run").failures
    assert failure["error"] == "WorkerDied: the process ended with exit code 9"
    assert (found["episodes"], found["failures"]) == (11, 1)
    assert run(config, tmp_path, resume=True)["episodes"] == 12


def test_a_run_is_not_begun_twice(tmp_path):
    run(make_plan("null", 1, max_steps=1), tmp_path)
    with pytest.raises(ResultsError, match="--resume"):
        run(make_plan("null", 1, max_steps=1), tmp_path)
    with pytest.raises(ResultsError, match="max_steps 1 there, 2 here"):
        run(make_plan("null", 1, max_steps=2), tmp_path, resume=True)
    with pytest.raises(ValueError, match="workers >= 0"):
        run(make_plan("null", 1), tmp_path, workers=-1)


# -- interruptions ----------------------------------------------------------------------------------------


@pytest.mark.slow
@each_world
def test_processes_change_nothing_but_the_time(tmp_path, env_id):
    options = {"env_id": env_id, "rollback_methods": ["act"]}
    alone = run(make_plan("random", 12, name="alone", **options), tmp_path)
    together = run(make_plan("random", 12, name="together", **options), tmp_path, workers=3)
    assert timeless(together) == timeless(alone)
    assert rows_of(tmp_path / "together") == rows_of(tmp_path / "alone")
    assert steps_of(tmp_path / "together") == steps_of(tmp_path / "alone")


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    config = make_plan("random", 6)

    def interrupt(now: runner.Progress) -> None:
        if now.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path, progress=interrupt)
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["episodes"] == 2
    resumed = run(config, tmp_path, resume=True)
    assert timeless(resumed) == timeless(run(make_plan("random", 6, name="whole"), tmp_path))


def start(agents: Path, output: Path, workers: int, env_id: str = ENV) -> subprocess.Popen:
    """Start the command line as a process group of its own and wait until some episodes are finished."""
    command = [sys.executable, "-c", "from backtrail.benchmarks.cli import main; main()"]
    options = [
        "run",
        env_id,
        "--split",
        SPLITS[env_id],
        "--agent",
        "agents_for_tests:Slow",
        "--name",
        "run",
        "-n",
        "18",
        "--max-steps",
        "30",
    ]
    options += ["--output-dir", str(output), "--workers", str(workers), "--no-progress"]
    process = subprocess.Popen(
        [*command, *options],
        cwd=agents,
        start_new_session=True,
        preexec_fn=_hears_ctrl_c,  # noqa: PLW1509  # no threads here
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    rows = output / "run" / "episodes.jsonl"
    until = time.monotonic() + 60
    while not (rows.exists() and rows.read_bytes().count(b"\n") >= 3):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    return process


def finish(output: Path, agents: Path, env_id: str = ENV) -> None:
    """Go on with the interrupted run here, and compare it with one that was never interrupted."""
    kept = len(RunFolder.open(output / "run").episodes)
    assert 3 <= kept < 18
    options = {"env_id": env_id, "max_steps": 30}
    resumed = run(make_plan("agents_for_tests:Slow", 18, **options), output, resume=True)
    whole = run(make_plan("agents_for_tests:Slow", 18, name="whole", **options), output)
    assert resumed["episodes"] == 18
    assert timeless(resumed) == timeless(whole)
    assert rows_of(output / "run") == rows_of(output / "whole")
    assert steps_of(output / "run") == steps_of(output / "whole")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process groups there")
@each_world
@pytest.mark.parametrize("workers", [1, 2])
def test_kill_9_and_resume_give_the_uninterrupted_result(tmp_path, agents, workers, env_id):
    process = start(agents, tmp_path, workers, env_id)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with (tmp_path / "run" / "episodes.jsonl").open("a") as file:
        file.write('{"episode": "valid_seen/lo')  # as a kill in the middle of a write leaves it
    finish(tmp_path, agents, env_id)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process groups there")
def test_workers_whose_parent_was_killed_leave_and_nobody_writes_beside_them(tmp_path, agents, monkeypatch):
    monkeypatch.setenv("SLOW", "0.03")  # about a second an episode
    process = start(agents, tmp_path, workers=2)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    with pytest.raises(ResultsError, match="Another process is writing"):
        run(make_plan("agents_for_tests:Slow", 18, max_steps=30), tmp_path, resume=True)
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive
    process.communicate()
    monkeypatch.delenv("SLOW")
    finish(tmp_path, agents)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process groups there")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_at_the_terminal_and_resume_give_the_uninterrupted_result(tmp_path, agents, workers):
    process = start(agents, tmp_path, workers)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stdout == ""
    assert "--resume goes on" in stderr
    assert "Traceback" not in stderr
    finish(tmp_path, agents)
