"""The plots of a report, as inline SVG that takes its colours from the page."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["Plot", "plots"]

Row = dict[str, Any]

# matplotlib draws in these colours; the page replaces each by a CSS variable, so that one picture fits light and dark.
_INK, _FAINT, _GOOD, _BAD, _BAND = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES = {_INK: "--ink", _FAINT: "--faint", _GOOD: "--good", _BAD: "--bad", _BAND: "--band"}

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "backtrail",
    "text.parse_math": False,  # names of task types may hold a dollar sign
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "legend.frameon": False,
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_WIDTH = 4.3
_BINS = 25
_MOST_TYPES = 30
_LONGEST_NAME = 52


class Plot(NamedTuple):
    """One plot of a report.

    Attributes:
        title: What it shows.
        svg: The picture, an ``<svg>`` element.
        caption: How to read it.
    """

    title: str
    svg: str
    caption: str


def plots(rows: Sequence[Row], summary: dict[str, Any]) -> list[Plot]:
    """Draw the plots of a run.

    Args:
        rows: Rows of episodes.jsonl, at least one.
        summary: What `backtrail.benchmarks.summary.summary` makes of them.

    Raises:
        ImportError: If matplotlib is missing.
    """
    import matplotlib

    with matplotlib.rc_context(_STYLE):  # pyright: ignore[reportArgumentType]  # its stub lists the keys of one version
        drawn = [_success(summary), _steps(rows), _curve(rows, summary), _new_states(rows), _revisits(rows)]
        return drawn + ([_rollbacks(rows)] if any(sum(row["rollbacks"].values()) for row in rows) else [])


def _success(summary: dict[str, Any]) -> Plot:
    kinds = sorted(summary["by_task_type"].items(), key=lambda item: (-item[1]["n"], item[0]))
    shown = sorted(kinds[:_MOST_TYPES]) if len(kinds) > 1 else []
    bars = [("all episodes", summary["success"]), *shown]
    figure, (axes,) = _figure(0.5 + 0.42 * len(bars))
    for place, (name, success) in enumerate(bars):
        colour = _GOOD if place else _INK
        axes.plot([success["low"], success["high"]], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        axes.plot(success["value"], place, "o", color=colour, markersize=6)
        counts = f"{success['successes']} of {success['n']} ({_rounded(success['value'])})"
        axes.text(0, place - 0.3, _short(name or "(no task type)"), va="center")
        axes.text(1, place - 0.3, counts, va="center", ha="right")
    axes.axvline(summary["success"]["value"], color=_FAINT, linewidth=0.8, linestyle=":", zorder=0)
    axes.set(ylim=(len(bars) - 0.6, -0.65), xlim=(-0.02, 1.02), yticks=[], xlabel="success rate")
    axes.spines["left"].set_visible(False)
    _percent(axes)
    left_out = (
        f" Only the {_MOST_TYPES} most frequent of {len(kinds)} task types are shown." if kinds[_MOST_TYPES:] else ""
    )
    caption = (
        "Dot: share of scored episodes that succeeded. Bar: 95\u00a0% Wilson interval. "
        f"Dotted line: all episodes together.{left_out}"
    )
    return Plot("Success by task type", _svg(figure), caption)


def _steps(rows: Sequence[Row]) -> Plot:
    longest = max(row["steps"] for row in rows)
    width = max(1, math.ceil(longest / _BINS))
    edges = np.arange(0, longest + width + 1, width) + 0.5
    svg = _by_outcome([(row["success"], row["steps"]) for row in rows], edges, "steps in the episode")
    return Plot("Steps", svg, "How long episodes were. Unsuccessful ones often end at the step limit.")


def _revisits(rows: Sequence[Row]) -> Plot:
    shares = [(row["success"], row["revisits"] / row["steps"] if row["steps"] else 0.0) for row in rows]
    svg = _by_outcome(shares, np.linspace(0, 1, 21), "share of an episode's steps that were revisits", percent=True)
    caption = (
        "A step is a revisit if it ends in a state the agent has been in before in this episode; an action that changes "
        "nothing counts as one."
    )
    return Plot("Revisits", svg, caption)


def _by_outcome(values: Sequence[tuple[bool, float]], edges: np.ndarray, label: str, percent: bool = False) -> str:
    """Draw one histogram for the successful and one for the other episodes, above each other."""
    groups = [(name, colour, [value for good, value in values if good is wanted]) for name, colour, wanted in _OUTCOMES]
    groups = [group for group in groups if group[2]]
    figure, panels = _figure(2.9, rows=len(groups))
    for axes, (name, colour, group) in zip(panels, groups, strict=True):
        axes.hist(group, edges.tolist(), color=colour, rwidth=0.9)
        axes.set_title(f"{name} (n = {len(group)})", loc="left", fontsize=9)
        axes.set_ylabel("episodes")
        _whole(axes.yaxis, most=4)
    panels[-1].set_xlabel(label)
    if percent:
        _percent(panels[-1])
    return _svg(figure)


_OUTCOMES = (("successful", _GOOD, True), ("not successful", _BAD, False))


def _curve(rows: Sequence[Row], summary: dict[str, Any]) -> Plot:
    mean = summary["exploration"]["new_states_curve"]
    seen = _padded([row["unique_by_step"] for row in rows])
    low, high = np.quantile(seen, [0.1, 0.9], axis=0)
    steps = np.arange(len(mean))
    figure, (axes,) = _figure(2.9)
    axes.plot(steps, steps + 1, color=_FAINT, linestyle=":", linewidth=1, label="if every step were new")
    axes.fill_between(steps, low, high, color=_BAND, alpha=0.35, linewidth=0, label="80\u00a0% of the episodes")
    axes.plot(steps, mean, color=_GOOD, linewidth=2, marker="o" if len(mean) == 1 else "", label="mean")
    axes.set(xlabel="step", ylabel="distinct states so far", xlim=(0, max(1, len(mean) - 1)), ylim=(0, None))
    axes.legend(loc="upper left")
    _whole(axes.xaxis, axes.yaxis)
    caption = (
        "How many different states an episode has seen up to each step, the start included. Episodes that have ended "
        "stay in with their last number. Band: 10th to 90th percentile of the episodes."
    )
    return Plot("Exploration", _svg(figure), caption)


def _padded(curves: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the curves as rows of one length; the last value is repeated."""
    longest = max(map(len, curves))
    return np.array([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves])


def _new_states(rows: Sequence[Row]) -> Plot:
    curves = [row["unique_by_step"] for row in rows]
    new = np.diff(_padded(curves), axis=1)
    running = np.array([sum(len(curve) > step for curve in curves) for step in range(1, new.shape[1] + 1)])
    steps = np.arange(1, len(running) + 1)
    figure, (upper, lower) = _figure(2.9, rows=2, heights=(3, 1))
    upper.bar(steps, new.sum(axis=0) / running, width=0.9, color=_GOOD)
    upper.set(ylabel="reach a new state", ylim=(0, 1))
    _percent(upper, "y")
    lower.step(steps, running, where="mid", color=_INK, linewidth=1)
    lower.set(xlabel="step", ylabel="episodes", ylim=(0, len(rows) * 1.1))
    _whole(lower.xaxis)
    _whole(lower.yaxis, most=2)
    caption = (
        "Above: of the episodes still running at a step, the share that reaches a state it has not seen before. Below: how "
        "many are still running; with few, the bars above them say little."
    )
    return Plot("New states by step", _svg(figure), caption)


def _rollbacks(rows: Sequence[Row]) -> Plot:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row["rollbacks"])
    names, total = list(counts), counts.total()
    figure, (axes,) = _figure(0.7 + 0.3 * len(names))
    axes.barh(names, [counts[name] for name in names], height=0.6, color=[_GOOD, *[_BAD] * (len(names) - 1)])
    for place, name in enumerate(names):
        text = f"{counts[name]:,} ({_rounded(counts[name] / total)})"
        axes.annotate(text, (counts[name], place), (4, 0), textcoords="offset points", va="center")
    axes.set(xlabel="rollbacks", xlim=(0, max(counts.values()) * 1.25))
    axes.invert_yaxis()
    _whole(axes.xaxis)
    caption = (
        "What came of the agent's wish to go back. Exact: it arrived in the earlier state, checked by fingerprint. "
        "Approximate: it got somewhere else. Failed: nothing moved. Unsupported: there was no way to try."
    )
    return Plot("Rollbacks", _svg(figure), caption)


def _figure(height: float, rows: int = 1, heights: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=heights)
    return figure, list(panels[:, 0])


def _whole(*axes: Axis, most: int = 6) -> None:
    """Set ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(most, integer=True, steps=[1, 2, 5, 10]))


def _percent(axes: Axes, which: str = "x") -> None:
    from matplotlib.ticker import PercentFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(PercentFormatter(1, decimals=0, symbol="\u00a0%"))


def _rounded(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _svg(figure: Figure) -> str:
    """Return the figure as an ``<svg>`` element that scales with the page and uses its font and colours."""
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata=_NO_METADATA)
    text = drawn.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r"<style.*?</style>", "", text)  # it would hold for the whole page
    text = re.sub(r'<g id="[^"]*">', "<g>", text)  # the same in every figure; nothing refers to them
    text = re.sub(r'font-family: [^;"]*(; )?', "", text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    return text
