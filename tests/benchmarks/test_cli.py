"""The command line: data on standard output, all else on standard error, and a wrong word is answered in one line."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backtrail.benchmarks import download
from backtrail.benchmarks.commands import app
from backtrail.benchmarks.commands.listing import _sections
from backtrail.benchmarks.commands.options import read_options
from backtrail.benchmarks.results import RunFolder

ENV = "backtrail/ALFWorld-v0"
TASK = "valid_seen/pick_and_place_simple/0003"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def call(*words: str, code: int = 0, text: str | None = None):
    """Run a command here and return its result; any exception that is not an exit code comes through."""
    result = CliRunner().invoke(app, words, input=text, catch_exceptions=False)
    assert result.exit_code == code, f"{result.stdout}\n{result.stderr}"
    assert "Traceback" not in result.output
    return result


def run(*words: str, **options):
    return call("run", "alfworld", *words, **options)


def process(*words: str, **options) -> subprocess.CompletedProcess[str]:
    """Run a command as a process of its own, with no terminal."""
    code = "from backtrail.benchmarks.cli import main; main()"
    command = [sys.executable, "-c", options.pop("before", "") + code, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


# -- what there is ----------------------------------------------------------------------------------------


def test_help_names_every_command():
    found = call("--help")
    for command in ("list", "info", "doctor", "play", "run", "report", "compare", "data", "audit"):
        assert f"\n  {command} " in found.stdout


def test_version():
    assert call("--version").stdout == f"backtrail {version('backtrail')}\n"


def test_list():
    found = json.loads(call("list", "--json").stdout)
    assert [(row["name"], row["id"]) for row in found["environments"]] == [
        ("alfworld", ENV),
        ("webshop", "backtrail/WebShop-v0"),
        ("android", "backtrail/AndroidWorld-v0"),
    ]
    assert {row["name"] for row in found["agents"]} == {"null", "random", "searcher", "expert", "replay"}
    assert all(row["description"] for row in found["agents"])
    table = call("list").stdout
    assert ENV in table
    assert "replay:FOLDER" in table


@pytest.mark.parametrize("name", ["alfworld", ENV])
def test_info(name):
    found = json.loads(call("info", name, "--json").stdout)
    assert found["id"] == ENV
    assert found["data"] == "generated:v1"
    assert sum(found["tasks"]["train"].values()) == 6000
    assert sum(found["tasks"]["valid_unseen"].values()) == 300
    assert found["max_steps"] == 50
    assert "go to desk 1" in found["about"]["Actions"]
    table = call("info", name).stdout
    assert "look_at_obj_in_light" in table
    assert "go to desk 1" in table


def test_sections_of_a_docstring():
    text = "Title.\n\nOne:\n    a ``b``\n    c: d\n\nTwo words:\n    e\n\nRegistered ids:\n    f\n"
    assert _sections(text) == {"One": "a b c: d", "Two words": "e"}


@pytest.mark.slow
def test_doctor_finds_nothing_broken():
    found = json.loads(call("doctor", "--json").stdout)
    assert found["ok"]
    statuses = {check["name"]: check["status"] for check in found["checks"]}
    assert statuses["backtrail"] == statuses["extra report"] == statuses[ENV] == "ok"
    assert statuses["official ALFWorld games"] == "missing"
    table = call("doctor")
    assert "backtrail data alfworld" in table.stdout
    assert "Nothing is broken." in table.stderr


def test_doctor_says_what_an_emulator_needs():
    found = CliRunner().invoke(app, ["doctor", "--emulator", "--json"])  # its exit code is the machine's
    checks = {each["name"]: each for each in json.loads(found.stdout)["checks"]}
    assert {"android_env", "android_world", "adb", "emulator", "kvm", "ffmpeg"} <= checks.keys()
    assert checks["android_world"]["status"] == "ok" or "pip install" in checks["android_world"]["detail"]


@pytest.mark.slow
def test_doctor_says_what_is_broken(monkeypatch):
    from backtrail.envs.alfworld.env import ALFWorldEnv

    def fall(self, action):
        raise OSError("out of order")

    monkeypatch.setattr(ALFWorldEnv, "step", fall)
    found = json.loads(call("doctor", "--json", code=1).stdout)
    assert {"name": ENV, "status": "broken", "detail": "OSError: out of order"} in found["checks"]
    assert "broken" in call("doctor", code=1).stdout


# -- play -------------------------------------------------------------------------------------------------


def test_play_from_standard_input():
    found = call("play", "alfworld", "--task-id", TASK, text="?\nfly\nlook\n")
    assert found.stdout == ""
    assert f"{TASK} (generated:v1)" in found.stderr
    assert "go to desk 1" in found.stderr
    assert "unknown command 'fly'" in found.stderr
    assert "earlier visits 1" in found.stderr
    assert "Stopped after 2 steps." in found.stderr


def test_play_to_the_end():
    import gymnasium as gym

    env = gym.make(ENV, task_id=TASK, expert=True)
    _, info = env.reset(seed=0)
    found = call("play", "alfworld", "--task-id", TASK, text="\n".join(info["expert_plan"]) + "\n")
    assert f"Won in {len(info['expert_plan'])} steps." in found.stderr


def test_play_with_rollback():
    found = call("play", "alfworld", "--task-id", TASK, "--rollback", "act,restore", text="go to desk 1\nrollback\n")
    assert "rollback exact" in found.stderr


def test_the_seed_picks_the_task():
    first, again, other = (call("play", "alfworld", "--seed", seed, text="").stderr for seed in ("1", "1", "2"))
    assert first == again != other


# -- run, report, compare ---------------------------------------------------------------------------------


def test_run_writes_a_run_and_shows_it():
    found = run("--agent", "expert", "-n", "6", "--seed", "4")
    folder = Path("runs/alfworld-expert-valid_seen-seed4")
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "episodes.jsonl",
        "failures.jsonl",
        "steps",
        "summary.json",
    }
    assert "data generated:v1, 6/6 episodes, 0 failed, seed 4" in found.stdout
    assert "not comparable with published scores" in found.stdout
    assert "61.0 to 100.0" in found.stdout
    assert f"Results: {folder}" in found.stderr
    assert RunFolder.open(folder).config.command.startswith("backtrail ")


def test_run_as_json():
    found = json.loads(run("--agent", "random", "-n", "2", "-k", "2", "--max-steps", "7", "--json").stdout)
    assert found["folder"] == "runs/alfworld-random-valid_seen"
    assert found["summary"]["episodes"] == 4
    assert found["summary"]["steps"]["mean"] <= 7
    assert found["summary"] == json.loads(Path(found["folder"], "summary.json").read_text())
    assert found["config"] == json.loads(Path(found["folder"], "config.json").read_text())


def test_run_chosen_tasks():
    chosen = [f"train/look_at_obj_in_light/000{n}" for n in (9, 3)]
    found = json.loads(run("--agent", "null", "--task-id", chosen[0], "--task-id", chosen[1],
                           "--max-steps", "1", "--json").stdout)  # fmt: skip
    assert found["config"]["tasks"] == chosen
    assert found["config"]["env_kwargs"]["split"] == "train", "results carry the split of their tasks"
    mixed = run("--agent", "null", "--task-id", chosen[0], "--task-id", TASK, code=2)
    assert "one split" in mixed.stderr
    assert "one split" in run("--agent", "null", "--task-id", chosen[0], "--split", "valid_seen", code=2).stderr
    found = json.loads(run("--agent", "null", "--task-type", "look_at_obj_in_light", "--split", "valid_unseen",
                           "--max-steps", "1", "-n", "3", "--json").stdout)  # fmt: skip
    assert set(found["summary"]["by_task_type"]) == {"look_at_obj_in_light"}
    assert all(task.startswith("valid_unseen/") for task in found["config"]["tasks"])


def test_a_run_is_gone_on_with_only_when_asked():
    words = ("--agent", "null", "-n", "2", "--max-steps", "1")
    run(*words, "--resume")
    again = run(*words, code=2)
    assert again.stderr.startswith("Error: There is a run at runs/alfworld-null-valid_seen already: add --resume")
    assert again.stderr.count("\n") == 1
    run(*words, "--resume")
    config = Path("runs/alfworld-null-valid_seen/config.json")
    config.write_text(config.read_text().replace(f'"gymnasium": "{version("gymnasium")}"', '"gymnasium": "1.0"'))
    assert f"begun with gymnasium 1.0 and goes on with {version('gymnasium')}" in run(*words, "--resume").stderr
    other = run("--agent", "null", "-n", "2", "--max-steps", "2", "--resume", code=2)
    assert "another recipe (max_steps 1 there, 2 here)" in other.stderr


def test_an_agent_of_ones_own():
    Path("mine.py").write_text(
        "from backtrail.agents import Agent, Turn\n\n"
        "class Looker(Agent):\n    name = 'looker'\n"
        "    def act(self, observation, info):\n        return Turn('look', valid=False)\n\n"
        "class Failing(Looker):\n"
        "    def act(self, observation, info):\n        raise RuntimeError('no model')\n"
    )
    found = process("run", "alfworld", "--agent", "mine:Looker", "-n", "4", "--max-steps", "3", "--workers", "2")
    assert found.returncode == 0, found.stderr
    assert "mine:Looker on backtrail/ALFWorld-v0" in found.stdout
    assert "well-formed responses   0.0 %" in found.stdout
    failed = process("run", "alfworld", "--agent", "mine:Failing", "-n", "2")
    assert failed.returncode == 1
    assert "2 of 2 episodes have no result" in failed.stderr
    assert "RuntimeError: no model" in failed.stderr
    stopped = process("run", "alfworld", "--agent", "mine:Failing", "-n", "12", "--name", "other")
    assert stopped.returncode == 1
    assert "Error: 10 episodes in a row have failed" in stopped.stderr
    worn = process("run", "alfworld", "--agent", "mine:Failing", "-n", "2", "--resume", "--retries", "1")
    assert "2 of them have been tried 1 times and are not tried again: add --resume --retries 4" in worn.stderr
    Path("mine.py").write_text(Path("mine.py").read_text().replace("'look'", "'inventory'"))
    changed = process("run", "alfworld", "--agent", "mine:Looker", "-n", "4", "--max-steps", "3", "--resume")
    assert changed.returncode == 2
    assert "holds a run of another recipe (agent " in changed.stderr, "two versions of an agent must not share a run"


def test_an_agent_that_is_none_is_told_so():
    Path("mute.py").write_text(
        "from backtrail.agents import Agent\n\nclass Mute(Agent):\n    name = 'mute'\n"
        "    def act(self, observation, info):\n        return 'look'\n"
    )
    failed = process("run", "alfworld", "--agent", "mute:Mute", "-n", "1")
    assert "Mute.act has to return a Turn, it returned str" in failed.stderr
    for path in ("mute.py:Mute", "./mute:Mute"):
        assert "Expected a module's name" in process("run", "alfworld", "--agent", path, "-n", "1").stderr


def test_report_and_compare():
    pytest.importorskip("backtrail.benchmarks.report")
    run("--agent", "expert", "-n", "6")
    run("--agent", "random", "-n", "6", "--rollback", "act", "--name", "second")
    one = call("report", "alfworld-expert-valid_seen")
    assert "100.0 %" in one.stdout
    assert Path("runs/alfworld-expert-valid_seen/report.html").stat().st_size > 1000
    elsewhere = call("report", "runs/second", "--html", "out/x.html", "--json")
    assert json.loads(elsewhere.stdout)["html"] == ["out/x.html"]
    assert Path("out/x.html").exists()
    both = call("report", "runs/second", "runs/alfworld-expert-valid_seen", "--no-html")
    assert "second" in both.stdout
    assert "alfworld-expert-valid_seen" in both.stdout

    found = json.loads(call("compare", "second", "alfworld-expert-valid_seen", "--json").stdout)
    assert found["episodes"] == 6
    assert found["success"]["b"] == 1.0
    assert set(found["recipe"]) == {"agent", "env_kwargs", "rollback_methods"}
    table = call("compare", "runs/second", "runs/alfworld-expert-valid_seen").stdout
    assert "6 common episodes, data generated:v1" in table
    assert "Exact McNemar test: p = " in table


# -- what is wrong, in one line ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "web", "--agent", "null"], "Unknown environment 'web': expected one of alfworld"),
        (["run", "alfworld", "--agent", "gpt"], "Unknown agent 'gpt': expected null, random, searcher, expert"),
        (["run", "alfworld", "--agent", "replay:nowhere"], "Expected recorded episodes under"),
        (["run", "alfworld", "--agent", "nowhere:Agent"], "cannot be imported: No module named 'nowhere'"),
        (["run", "alfworld", "--agent", "null", "--split", "test"], "Expected split to be one of"),
        (["run", "alfworld", "--agent", "null", "--data", "nowhere"], "Expected ALFWorld games at"),
        (["run", "alfworld", "--agent", "null", "--data", "official"], "backtrail data alfworld"),
        (["run", "alfworld", "--agent", "null", "--task-id", "x"], "Unknown task id 'x'"),
        (["run", "alfworld", "--agent", "null", "--task-type", "x"], "Expected task_types among"),
        (["run", "alfworld", "--agent", "null", "--rollback", "undo"], "Unknown rollback method 'undo'"),
        (["run", "alfworld", "--agent", "null", "--name", "a/b"], "Expected a plain folder name"),
        (["run", "alfworld", "--agent", "null", "--engine", "thor"], "Expected one of native, textworld"),
        (["run", "android", "--agent", "null", "--data", "official"], "choose by --option"),
        (["run", "android", "--agent", "null", "-o", "device=emulator", "-o", "tasks=own"], "portable"),
        (["run", "alfworld", "--agent", "null", "-o", "max_episode_steps=5"], "--max-steps N"),
        (["run", "alfworld"], "Missing option '--agent'"),
        (["run", "alfworld", "--agent", "null", "-n", "0"], "'--limit'"),
        (["run", "alfworld", "--agent", "null", "--seed", "x"], "'--seed'"),
        (["play", "web"], "Unknown environment 'web'"),
        (["play", "alfworld", "--task-id", "x"], "Unknown task id 'x'"),
        (["info", "web"], "Unknown environment 'web'"),
        (["report", "nowhere"], "Expected a run folder at nowhere"),
        (["report", "a", "b", "--html", "x"], "--html names one file, and there are 2 runs"),
        (["compare", "a", "b"], "Expected a run folder at a"),
        (["data", "minigrid"], "Unknown benchmark 'minigrid': expected alfworld or webshop"),
        (["data", "webshop"], "Expected the folder of the official files"),
        (["data", "webshop", "no-such-folder"], "no-such-folder"),
        (["learn"], "No such command 'learn'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, message):
    found = call(*words, code=2)
    assert found.stdout == ""
    (line,) = [line for line in found.stderr.splitlines() if line.startswith("Error: ")]
    assert message in line
    assert not Path("runs").exists()


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_command_line_without_its_extra_says_how_to_get_it(package):
    found = process("list", before=f"import sys; sys.modules['{package}'] = None; ")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == f'The command line needs the package {package}. Run: pip install "backtrail[report]"\n'


def test_an_engine_without_its_extra_says_how_to_get_it():
    hidden = "import sys; sys.modules['textworld'] = sys.modules['alfworld'] = None; "
    found = process("run", "alfworld", "--agent", "null", "--engine", "textworld", before=hidden)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("Error: ")
    assert found.stderr.endswith('Run: pip install "backtrail[alfworld]"\n')
    assert found.stderr.count("\n") == 1


def test_a_pipe_gets_plain_text_and_no_progress():
    found = process("run", "alfworld", "--agent", "random", "-n", "3", env={**os.environ, "FORCE_COLOR": ""})
    assert found.returncode == 0, found.stderr
    assert "\x1b" not in found.stdout + found.stderr
    assert found.stderr.splitlines() == [
        "Results: runs/alfworld-random-valid_seen. A report: backtrail report runs/alfworld-random-valid_seen"
    ]


# -- data -------------------------------------------------------------------------------------------------


@pytest.fixture
def mirror(tmp_path, monkeypatch) -> str:
    """Make an archive that passes for the official one, and return its address."""
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as bundle:
        for split in download.GAMES:
            bundle.writestr(f"json_2.1.1/{split}/pick_and_place_simple-A-None-B-1/trial/game.tw-pddl", "{")
    monkeypatch.setattr(download, "ALFWORLD_SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(download, "GAMES", dict.fromkeys(download.GAMES, 1))
    return path.as_uri()


def test_data_is_fetched_unpacked_and_checked(mirror, monkeypatch):
    broken = call("data", "alfworld", "--folder", "games", "--url", mirror, code=1)
    assert "is not a complete ALFWorld game" in broken.stderr  # the archive's own fault, found by reading the games
    monkeypatch.setattr(download, "check_alfworld", lambda folder, progress: dict(download.GAMES))
    found = call("data", "alfworld", "--folder", "games", "--url", mirror)
    assert found.stdout == f"{Path('games').resolve()}: train 1, valid_seen 1, valid_unseen 1 games\n"
    assert "already" in found.stderr
    assert [path.name for path in Path("games").iterdir()] == ["json_2.1.1"]
    again = json.loads(call("data", "alfworld", "--folder", "games", "--url", mirror, "--force", "--json").stdout)
    assert again["games"] == {"train": 1, "valid_seen": 1, "valid_unseen": 1}


def test_data_of_another_kind_is_refused(tmp_path):
    (tmp_path / "page.zip").write_text("<html>Sign in</html>")
    found = call("data", "alfworld", "--url", (tmp_path / "page.zip").as_uri(), code=1)
    assert "Error: " in found.stderr
    assert f"expected a file with SHA-256 {download.ALFWORLD_SHA256}" in found.stderr
    assert "--data generated" in found.stderr


def test_data_without_a_network():
    found = call("data", "alfworld", "--url", "http://127.0.0.1:9/x.zip", code=1)
    assert "http://127.0.0.1:9/x.zip cannot be fetched" in found.stderr
    assert "--data generated" in found.stderr


def test_options_of_an_environment_are_read_as_json_or_as_text():
    words = ["a=true", "b=0.5", "c=3", 'd={"avd": "phone"}', "e=text_rich", 'f="7"', "g=x=y", "h="]
    assert read_options(words) == {
        "a": True, "b": 0.5, "c": 3, "d": {"avd": "phone"}, "e": "text_rich", "f": "7", "g": "x=y", "h": "",
    }  # fmt: skip
    for wrong, said in (
        (["a"], "NAME=VALUE"),
        (["a=1", "a=2"], "once"),
        (["a b=1"], "NAME=VALUE"),
        (["a={b}"], "JSON"),
    ):
        with pytest.raises(ValueError, match=said):
            read_options(wrong)
