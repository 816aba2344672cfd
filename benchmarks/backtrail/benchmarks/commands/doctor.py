"""``backtrail doctor``: what is installed, what is missing, what is broken."""

from __future__ import annotations

import importlib.util
import re
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.text import Text

from backtrail.benchmarks.commands.console import emit_json, note, plain_table, stderr, stdout
from backtrail.benchmarks.commands.options import Json

__all__ = ["doctor"]

_EXTRAS = {
    "report": "the command line and the HTML reports",
    "alfworld": 'the original ALFWorld stack (engine="textworld")',
    "webshop": "building official catalogues, faster search in large ones, the shop in a browser",
    "android": "the phone in a browser, android_env, Android emulators (more: backtrail doctor --emulator)",
}

_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


class Check(NamedTuple):
    """One finding; ``status`` is ok, missing (optional, not there) or broken."""

    name: str
    status: str
    detail: str


def doctor(
    emulator: Annotated[
        bool, typer.Option("--emulator", help="Check what android on an emulator needs, and nothing else.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the installation.

    Exit code 1 if something is broken.
    """
    with stderr().status("Checking"):
        checks = _emulator() if emulator else [*_packages(), *_extras(), *_data(), *_smoke_tests()]
    healthy = all(check.status != "broken" for check in checks)
    if as_json:
        emit_json({"ok": healthy, "checks": [check._asdict() for check in checks]})
    else:
        table = plain_table()
        for check in checks:
            table.add_row(
                Text(check.status, _COLOURS[check.status]), Text(check.name), Text(check.detail, overflow="fold")
            )
        stdout().print(table)
        note("Nothing is broken." if healthy else "Something is broken: see above.", "" if healthy else "red")
    if not healthy:
        raise typer.Exit(1)


def _packages() -> Iterator[Check]:
    from backtrail.benchmarks.plan import versions

    found = versions()
    for package in ("python", "backtrail", "gymnasium", "numpy", "pillow"):
        known = found.get(package)
        yield Check(package, "ok" if known else "broken", known or "not installed: reinstall backtrail")


def _extras() -> Iterator[Check]:
    for extra, purpose in _EXTRAS.items():
        missing = [name for name in _requirements(extra) if not _installed(name)]
        if missing:
            detail = f'{purpose}; not installed: {", ".join(missing)}. Run: pip install "backtrail[{extra}]"'
            yield Check(f"extra {extra}", "missing", detail)
        else:
            yield Check(f"extra {extra}", "ok", purpose)


def _requirements(extra: str) -> list[str]:
    marked = [line for line in requires("backtrail") or [] if re.search(rf"extra == ['\"]{extra}['\"]", line)]
    return [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in marked]


def _installed(name: str) -> bool:
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


def _data() -> Iterator[Check]:
    from backtrail.envs.alfworld.tasks import SPLITS, default_folder, find_root

    where = default_folder()
    try:
        root = find_root(where)
    except FileNotFoundError:
        yield Check("official ALFWorld games", "missing", f"not at {where}. Run: backtrail data alfworld")
        return
    numbers = {split: sum(1 for _ in (root / split).glob("*/*/game.tw-pddl")) for split in SPLITS}
    yield Check(
        "official ALFWorld games", "ok", f"{root} ({', '.join(f'{split} {n}' for split, n in numbers.items())})"
    )


def _emulator() -> list[Check]:
    from backtrail.envs.androidworld.doctor import doctor as look

    return [Check(*finding) for finding in look()]


def _smoke_tests() -> Iterator[Check]:
    from backtrail.benchmarks.catalog import BENCHMARKS

    for benchmark in BENCHMARKS.values():
        yield _smoke_test(benchmark.env_id, {"split": benchmark.evaluation_split})
    if importlib.util.find_spec("textworld") and importlib.util.find_spec("alfworld"):
        yield _smoke_test("backtrail/ALFWorld-v0", {"split": "valid_seen", "engine": "textworld"})


def _smoke_test(env_id: str, kwargs: dict[str, Any]) -> Check:
    """Play three steps of one task, as a run would."""
    import gymnasium as gym

    from backtrail.benchmarks.episode import Player
    from backtrail.benchmarks.plan import plan

    name = f"{env_id} {kwargs['engine']}" if "engine" in kwargs else env_id
    started = time.perf_counter()
    try:
        agent = {"name": "random", "options": {}}
        config = plan("doctor", env_id, agent, env_kwargs=kwargs, limit=1, max_steps=3)
    except (ValueError, TypeError, OSError, ImportError, gym.error.Error) as error:
        return Check(name, "broken", f"{type(error).__name__}: {error}")
    with tempfile.TemporaryDirectory() as folder:
        player = Player(config, Path(folder))
        outcome = player.play(config.episodes()[0])
        player.close()
    if not outcome.finished:
        return Check(name, "broken", outcome.row["error"])
    took = time.perf_counter() - started
    return Check(
        name, "ok", f"{outcome.row['steps']} steps of {outcome.row['task_id']} in {took:.2f} s ({config.data})"
    )
