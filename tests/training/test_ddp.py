"""Two processes that train together do what one does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytest.importorskip("peft")

from making_runs import loaded, told

SCRIPT = Path(__file__).parent / "ddp_run.py"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def launch(world: int, *command: str) -> None:
    """Run a Python command in so many processes, with one set of variables each, until all have ended well."""
    port, common = str(free_port()), {"PYTHONPATH": str(SCRIPT.parent.parent), "OMP_NUM_THREADS": "1"}
    together = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(world), "ACCELERATE_USE_CPU": "true"}
    processes = []
    for rank in range(world):
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(world)} if world > 1 else {}
        variables = os.environ | common | ((together | place) if world > 1 else {})
        processes.append(subprocess.Popen([sys.executable, *command], env=variables, stderr=subprocess.PIPE, text=True))
    said = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * world, said


@pytest.mark.slow
@pytest.mark.parametrize("method", ["grpo", "eapo"])
def test_two_processes_train_as_one_does_and_the_first_alone_writes(method: str, warm: Path, tmp_path: Path):
    launch(1, str(SCRIPT), str(warm), method, str(tmp_path / "one"))
    launch(2, str(SCRIPT), str(warm), method, str(tmp_path / "two"))
    one, two = (loaded(tmp_path / run / "model").model.state_dict() for run in ("one", "two"))
    assert max(float((one[name] - two[name]).abs().max()) for name in one) < 1e-4
    start = loaded(tmp_path / "two" / "start").model.state_dict()
    assert max(float((two[name] - start[name]).abs().max()) for name in two) > 1e-4, "the loop learned"
    rows = [told(tmp_path / run, "alarms") for run in ("one", "two")]
    assert [row["stage"] for row in rows[1]] == ["sft", "rl-evaluation", "rl", "rl", "rl-evaluation"]
    assert [row.keys() for row in rows[0]] == [row.keys() for row in rows[1]]
    first, second = rows[0][2], rows[1][2]
    for name in ("success", "rows", "trajectories", "tokens", "reward/format", "entropy/action"):
        assert second[name] == pytest.approx(first[name], rel=1e-3), name
    evaluations = [
        [json.loads(line) for line in (tmp_path / run / "evaluations.jsonl").read_text("utf-8").splitlines()]
        for run in ("one", "two")
    ]
    assert evaluations[0] == evaluations[1]
    names = [sorted(path.name for path in (tmp_path / run).iterdir()) for run in ("one", "two")]
    assert names[0] == names[1]


@pytest.mark.slow
def test_the_command_trains_in_two_processes(tmp_path: Path):
    pytest.importorskip("typer")
    main = "import sys; from backtrail.benchmarks.cli import main; sys.exit(main())"
    small = (
        "rollback_steps=0", "sft_steps=1", "sft_batch=2", "demonstrations=2", "iterations=1", "tasks=2", "group=2", "eval_episodes=2", "max_steps=2", "max_tokens=8",
    )  # fmt: skip
    words = ("train", "alfworld", "--preset", "grpo", "--model", "tiny", *small)
    launch(2, "-c", main, *words, "--runs", str(tmp_path), "--name", "run")
    assert [row["stage"] for row in told(tmp_path / "run")] == ["sft", "rl-evaluation", "rl", "rl-evaluation"]
    assert (tmp_path / "run" / "report.html").is_file()
