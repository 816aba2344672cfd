"""`write_html`: a run as one HTML file that a reviewer can read, check and step through."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from backtrail.benchmarks.results import ResultsError, RunFolder, read_wall
from backtrail.benchmarks.summary import summary
from backtrail.envs.wrappers.record import read_episode

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["write_html"]

TEMPLATES = Path(__file__).parent / "templates"

Row = dict[str, Any]


def write_html(run: Path, out: Path, *, max_episodes: int = 200, max_bytes: int = 24_000_000) -> None:
    """Write the report of a run: one file without external parts, the same bytes for the same run.

    All numbers come from config.json and episodes.jsonl. The steps of the first episodes of the plan are embedded as far as
    the limits go, then screenshots; the page says what was left out.

    Args:
        run: The run folder; its run may still go on.
        out: The HTML file to write; folders above it are made.
        max_episodes: How many episodes' steps to embed at most.
        max_bytes: How much of steps and screenshots to embed at most.

    Raises:
        ValueError: If the folder holds no run, a damaged one, or no finished episode.
        gymnasium.error.DependencyNotInstalled: If the extra ``report`` is missing.
    """
    folder = RunFolder.open(run)
    if not folder.episodes:
        faults = f", only {len(folder.failures)} failures: see failures.jsonl" if folder.failures else ""
        raise ResultsError(f"Expected at least one finished episode in {run}, found none{faults}")
    order = {episode.id: number for number, episode in enumerate(folder.config.episodes())}
    rows = sorted(folder.episodes, key=lambda row: order[row["episode"]])
    try:
        page = _render(folder, rows, _embed(folder.path.resolve(), rows, max_episodes, max_bytes))
    except KeyError as error:
        raise ResultsError(f"A row of {run} is not complete: {error} is missing") from error
    save_page(page, out)


def save_page(page: str, out: Path) -> None:
    """Write a page, complete or not at all; folders above it are made.

    Raises:
        ResultsError: If ``out`` is a folder.
    """
    if out.is_dir():
        raise ResultsError(f"Expected a file to write the report to, got the folder {out}")
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.with_name(f"{out.name}.{os.getpid()}.tmp")
    # What a model wrote may hold lone surrogates, which UTF-8 has no bytes for.
    draft.write_text(page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
    draft.replace(out)


def _render(folder: RunFolder, rows: Sequence[Row], embedded: dict[str, Any]) -> str:
    try:
        from backtrail.benchmarks.plots import plots

        numbers = summary(folder.config, rows, folder.failures, read_wall(folder.path) or None)
        drawn = plots(rows, numbers)
        templates = load_templates()
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            f'The report needs jinja2 and matplotlib ({error}). Run: pip install "backtrail[report]"'
        ) from error
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    return templates.get_template("report.html.j2").render(
        config=folder.config.to_json(),
        summary=numbers,
        labels=_labels(folder.config.data, rows),
        warning=_disagreement(folder.path, numbers),
        plots=drawn,
        rows=[{**row, **_told(record)} for row, record in zip(rows, embedded["episodes"], strict=True)],
        failures=_failures(folder),
        embedded=embedded,
        data=_json_for_html(embedded),
        checksums={
            name: _sha256((folder.path / name).read_bytes()).hex() for name in ("config.json", "episodes.jsonl")
        },
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_hash=base64.b64encode(_sha256(script.encode())).decode(),
    )


def load_templates() -> Environment:
    """Return the templates of the reports, with the filters that both use."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,  # tasks, observations and errors are foreign text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": _percent, "number": _number, "duration": _duration}
    return environment


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.1f}\u00a0%"


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def _labels(planned: str | list[str], rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return each label of the data with what it means for the result, "" where nothing is to be said."""
    labels = {planned} if isinstance(planned, str) else set(planned)
    return [(label, caution(label)) for label in sorted(labels | {row["data"] for row in rows})]


def caution(label: str) -> str:
    """Return what a reader must know about data of that label; "" for the official benchmark's."""
    if label.startswith("generated"):
        return "generated data, not the official benchmark"
    if label.startswith("simulated"):
        return "simulated environment, not the official benchmark"
    if label.endswith("+portable"):
        return "tasks of our own, not the official benchmark"
    return "the environment does not say which data this is" if label in ("", "unknown") else ""


def _disagreement(path: Path, numbers: dict[str, Any]) -> str:
    """Return what to tell the reader if summary.json is not the summary of the other files; "" if it is."""
    try:
        saved = json.loads((path / "summary.json").read_text(encoding="utf-8"))
    except OSError:
        return "There is no summary.json yet."
    except ValueError:
        return "summary.json is damaged."
    made = json.loads(json.dumps(numbers))
    differs = [key for key in made if key != "time" and (not isinstance(saved, dict) or saved.get(key) != made[key])]
    return f"summary.json on the disk has other values for: {', '.join(differs)}." if differs else ""


def _failures(folder: RunFolder) -> list[Row]:
    finished = {row["episode"] for row in folder.episodes}
    return [{**row, "finished": row["episode"] in finished} for row in folder.failures]


def _told(record: Row | None) -> Row:
    return {"goal": record["goal"] if record else "", "embedded": record is not None}


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _json_for_html(value: Any) -> str:
    """Return JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


# -- the recorded episodes -----------------------------------------------------------------------------------


def _embed(run: Path, rows: Sequence[Row], max_episodes: int, max_bytes: int) -> dict[str, Any]:
    """Return what the viewer shows: an entry per row, None for an episode that is left out, and what they share."""
    actions: dict[str, int] = {}
    episodes: list[Row | None] = []
    left, full, missing = max_bytes, False, 0
    for row in rows:
        path = _within(run, row.get("steps_file"))
        missing += path is None
        full = full or len(episodes) >= max_episodes
        record = None if full or path is None else _record(path, run, actions)
        size = len(_json_for_html(record).encode(errors="xmlcharrefreplace")) if record else 0
        if size > left:
            record, full = None, True
        left -= size if record else 0
        episodes.append(record)
    wanted = [file for record in episodes if record for step in record["steps"] for _, file in step.get("images", ())]
    images, pictures = _pictures(run, wanted, left)
    return {
        "episodes": episodes,
        "actions": list(actions),
        "images": images,
        "pictures": pictures,
        "counts": {
            "episodes": sum(record is not None for record in episodes),
            "missing": missing,
            "images": len(images),
            "wanted": len(wanted),
        },
    }


def _within(run: Path, name: Any) -> Path | None:
    """Return the file of that name if it is there and inside the run folder: rows may come from anywhere."""
    if not isinstance(name, str):
        return None
    path = (run / name).resolve()
    return path if path.is_relative_to(run) and path.is_file() else None


def _record(path: Path, run: Path, actions: dict[str, int]) -> Row:
    """Return a recorded episode as the viewer reads it. Admissible actions become indices into ``actions``."""
    states: dict[str, int] = {}
    lines = read_episode(path)
    steps = [_step(line, path.parent.relative_to(run).as_posix(), states, actions) for line in lines]
    observation = lines[0]["observation"]
    goal = observation.get("goal", "") if isinstance(observation, dict) else ""
    return {"goal": goal, "states": list(states), "steps": steps}


def _step(line: Row, folder: str, states: dict[str, int], actions: dict[str, int]) -> Row:
    """Return one line of a record without what is empty."""
    info, note = line["info"], line.get("note", {})
    fingerprint, rollback = info.get("fingerprint"), info.get("rollback")
    text, images = _split(line["observation"], folder)
    step = {
        "action": _text(line["action"]) if "action" in line else None,
        "text": text,
        "images": images,
        "reward": line.get("reward") or None,
        "state": None if fingerprint is None else states.setdefault(str(fingerprint), len(states)),
        "visits": info.get("visits"),
        "rollback": rollback,
        # After a rollback the error is that of the place gone back to, not of this step.
        "error": None if rollback else info.get("action_error"),
        "success": info.get("success"),
        "end": "terminated" if line.get("terminated") else "truncated" if line.get("truncated") else None,
        "malformed": note.get("valid") is False,
        "admissible": [actions.setdefault(_text(each), len(actions)) for each in info.get("admissible_actions") or ()],
        **{key: note.get(key) for key in ("explore", "memory", "response")},
    }
    return {key: value for key, value in step.items() if value not in (None, "", []) and value is not False}


def _split(observation: Any, folder: str) -> tuple[str, list[list[str]]]:
    """Return what an observation says, and its images as (part, file in the run folder)."""
    if not isinstance(observation, dict) or "png" in observation:
        observation = {"text" if not isinstance(observation, dict) else "image": observation}
    parts, images = [], []
    for key, value in observation.items():
        if isinstance(value, dict) and isinstance(value.get("png"), str):
            images.append([key, f"{folder}/{Path(value['png']).name}"])
        elif key == "text":
            parts.insert(0, _text(value))
        elif key != "goal":
            parts.append(f"{key}: {_text(value)}")
    return "\n\n".join(parts), images


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _pictures(run: Path, files: Sequence[str], left: int) -> tuple[dict[str, int], list[str]]:
    """Return each file's place among the pictures, and the pictures as data URIs: equal ones once, as many as fit."""
    images: dict[str, int] = {}
    pictures: dict[str, int] = {}
    for file in files:
        path = _within(run, file)
        if path is None:
            continue
        picture = f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
        if picture not in pictures:
            if len(picture) > left:
                break
            left -= len(picture)
            pictures[picture] = len(pictures)
        images[file] = pictures[picture]
    return images, list(pictures)
