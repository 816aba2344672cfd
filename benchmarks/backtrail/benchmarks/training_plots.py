"""The plots of a training report: one run's numbers over its iterations, or several methods' with a band over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backtrail.benchmarks.plots import (
    _BAND,
    _FAINT,
    _GOOD,
    _INK,
    _STYLE,
    Plot,
    _figure,
    _percent,
    _svg,
    _whole,
)
from backtrail.benchmarks.training_panels import LEVELS, PARTS, PLOTS, TRAINING, Panel
from backtrail.benchmarks.training_runs import Method, TrainingRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["training_plots"]

# Drawn in these and replaced by CSS variables, as in `plots`; the names of the variables are in training.html.j2.
_COLOURS = ("#060606", "#070707", "#080808", "#090909", "#0a0a0a", "#0b0b0b", "#0c0c0c", "#0d0d0d")
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
_OTHER = "other"
_PANEL = 1.75
_LEAST_SHARE = 0.05  # ticks are whole per cents


class _Curve(NamedTuple):
    """A line of a panel with its band: the mean over seeds, and their smallest and largest."""

    label: str
    place: int
    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def training_plots(methods: Sequence[Method]) -> list[Plot]:
    """Draw the plots; those of which nothing was measured are left out.

    Args:
        methods: At least one, each with at least one run.

    Raises:
        ImportError: If matplotlib is missing.
    """
    import matplotlib

    with matplotlib.rc_context(_STYLE):  # pyright: ignore[reportArgumentType]  # its stub lists the keys of one version
        drawn = [
            _success(methods),
            *(_lines(methods, title, panels, caption) for title, panels, caption in PLOTS),
            _stacked(methods, "Where baselines come from", _levels, _BASELINES, share=True),
            _stacked(methods, "Time of an update", _times, _TIMES),
            _rollbacks(methods),
        ]
    return [plot for plot in drawn if plot is not None]


_BASELINES = (
    "Which steps a step is compared with, as the share of baselines found at each key; those after the first key are "
    "fallbacks."
)
_TIMES = "Wall-clock seconds of an iteration of the loop by what they went into; evaluations are not in it."


# ---- lines


def _success(methods: Sequence[Method]) -> Plot | None:
    """Draw the evaluations: with Wilson's interval for one run, with a band over seeds for several."""
    runs = [run for method in methods for run in method.runs]
    if not any(run.evaluations for run in runs):
        return None
    figure, (axes,) = _figure(2.9)
    if len(runs) == 1:
        found = runs[0].evaluations
        x = [each.iteration for each in found]
        low, high = [each.success.low for each in found], [each.success.high for each in found]
        axes.fill_between(x, low, high, color=_BAND, alpha=0.35, linewidth=0, label="95\u00a0% interval (Wilson)")
        axes.plot(x, [each.success.value for each in found], "o-", color=_GOOD, markersize=4, label="success")
        if len(x) == 1:
            axes.vlines(x, low, high, color=_BAND, linewidth=3, alpha=0.6)
        axes.legend(loc="upper left", bbox_to_anchor=(0, 1.16), ncols=2, borderaxespad=0)
        caption = f"Evaluations of {_range([each.n for each in found])} episodes in rooms that were not trained in."
    else:
        values = [
            (method.label, [{e.iteration: e.success.value for e in run.evaluations} for run in method.runs])
            for method in methods
        ]
        _draw(axes, [_curve(_counted(label, each), k, each) for k, (label, each) in enumerate(values)], marker="o")
        _legend(figure, axes)
        caption = f"Evaluations in rooms that were not trained in. {_band(methods)}"
    axes.set(xlabel="updates", ylabel="success rate", ylim=(-0.02, 1.02))
    _percent(axes, "y")
    _whole(axes.xaxis)
    return Plot("Success in held-out rooms", _coloured(figure), caption)


def _lines(methods: Sequence[Method], title: str, panels: Sequence[Panel], caption: str) -> Plot | None:
    """Draw panels above each other: of one method all lines of a panel in one, of several a panel for each line."""
    if len(methods) > 1:
        panels = [
            panel._replace(lines=(line,), ylabel=line.label if len(panel.lines) > 1 else panel.ylabel)
            for panel in panels
            for line in panel.lines
        ]
    shown: list[tuple[Panel, list[_Curve]]] = []
    for panel in panels:
        found = [
            _curve(_counted(method.label, runs), which, runs) if len(methods) > 1 else _curve(line.label, place, runs)
            for place, line in enumerate(panel.lines)
            for which, method in enumerate(methods)
            if any(runs := [run.series(line.stage, line.name) for run in method.runs])
        ]
        if found:
            shown.append((panel, found))
    if not shown:
        return None
    figure, drawn = _figure(1.15 + _PANEL * len(shown), rows=len(shown))
    for axes, (panel, curves) in zip(drawn, shown, strict=True):
        _draw(axes, curves, single=len(methods) == 1)
        axes.set_ylabel(panel.ylabel)
        if panel.share:
            high = min(1.02, max(_LEAST_SHARE, axes.get_ylim()[1]))
            axes.set_ylim(-0.02 * high, high)
            _percent(axes, "y")
        if panel.mark is not None:
            axes.axhline(panel.mark, color=_FAINT, linewidth=0.8, linestyle=":", zorder=0)
        _whole(axes.xaxis)
        if len(methods) == 1 and len(curves) > 1:
            axes.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1.0),
                ncols=_columns([curve.label for curve in curves]),
                fontsize=8,
                borderaxespad=0.2,
            )
    drawn[-1].set_xlabel("optimiser step" if title == "Imitation" else "updates")
    if len(methods) > 1:
        _legend(figure, drawn[0])
    seeds = any(len(method.runs) > 1 for method in methods)
    return Plot(title, _coloured(figure), f"{caption} {_band(methods)}" if seeds or len(methods) > 1 else caption)


def _curve(label: str, place: int, runs: Sequence[Mapping[int, float]]) -> _Curve:
    """Return the mean over runs at the iterations that all of them have; of none in common, of those that any has."""
    runs = [run for run in runs if run]
    x = sorted(set.intersection(*map(set, runs)) or set.union(*map(set, runs)))
    values = [[run[i] for run in runs if i in run] for i in x]
    statistics = (np.array([function(each) for each in values]) for function in (np.mean, np.min, np.max))
    return _Curve(label, place, np.array(x), *statistics)


def _draw(axes: Axes, curves: Sequence[_Curve], *, marker: str = "", single: bool = False) -> None:
    for curve in curves:
        colour, dash = _COLOURS[curve.place % len(_COLOURS)], _DASHES[curve.place % len(_DASHES)]
        if (curve.high > curve.low).any():
            axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.16, linewidth=0)
        lone = "o" if len(curve.x) == 1 else marker
        width = 1.4 if single else 1.6
        axes.plot(
            curve.x,
            curve.mean,
            color=colour,
            linestyle=dash,
            linewidth=width,
            marker=lone,
            markersize=4,
            label=curve.label,
        )


def _legend(figure: Figure, axes: Axes) -> None:
    """Put the legend above all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=_columns(labels), fontsize=8, handlelength=2.6)


def _columns(labels: Sequence[str]) -> int:
    """Return how many columns of a legend the longest name leaves room for."""
    return max(1, min(3, 66 // (max(map(len, labels)) + 8)))


def _counted(label: str, runs: Sequence[object]) -> str:
    return f"{label} (n = {len(runs)})"


def _band(methods: Sequence[Method]) -> str:
    sizes = _range([len(method.runs) for method in methods])
    if sizes == "1":
        return "One seed each: no band."
    return f"Line: mean over seeds. Band: smallest to largest of the seeds (n = {sizes}), not an interval."


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


# ---- what adds up


def _levels(run: TrainingRun) -> dict[str, dict[int, float]]:
    found = {name: run.series(TRAINING, f"advantage/level/{key}") for key, name in LEVELS.items()}
    return {name: series for name, series in found.items() if any(series.values())}


def _times(run: TrainingRun) -> dict[str, dict[int, float]]:
    found = {name: run.series(TRAINING, f"seconds/{key}") for key, name in PARTS.items()}
    total = run.series(TRAINING, "seconds")
    rest = {i: max(0.0, whole - sum(series.get(i, 0.0) for series in found.values())) for i, whole in total.items()}
    return {name: series for name, series in {**found, _OTHER: rest}.items() if any(series.values())}


def _stacked(
    methods: Sequence[Method],
    title: str,
    parts: Callable[[TrainingRun], dict[str, dict[int, float]]],
    caption: str,
    *,
    share: bool = False,
) -> Plot | None:
    """Draw parts of a whole: over the iterations for one run, as a bar of means for each method."""
    found = [(method, [parts(run) for run in method.runs]) for method in methods]
    found = [(method, [each for each in runs if each]) for method, runs in found if any(runs)]
    present = {name for _, runs in found for each in runs for name in each}
    known = [*LEVELS.values(), *PARTS.values(), _OTHER]
    names = [name for name in known if name in present]
    if not names:
        return None
    colours = {name: _COLOURS[known.index(name) % len(_COLOURS)] for name in names}  # the same in every report
    if len(methods) == 1 and len(methods[0].runs) == 1:
        series = found[0][1][0]
        x = sorted(set.union(*map(set, series.values())))
        figure, (axes,) = _figure(3.1)
        heights = [[series[name].get(i, 0.0) for i in x] for name in names]
        edges = [*x, x[-1] + 1]
        below = np.zeros(len(x))
        for name, height in zip(names, heights, strict=True):
            axes.stairs(below + height, edges, baseline=below, fill=True, color=colours[name], alpha=0.8, label=name)
            below = below + height
        axes.set(
            xlabel="updates",
            ylabel="share" if share else "seconds",
            ylim=(0, 1 if share else None),
            xlim=(x[0], edges[-1]),
        )
        _whole(axes.xaxis)
    else:
        figure, (axes,) = _figure(1.3 + 0.42 * len(found))
        for place, (method, runs) in enumerate(found):
            left = 0.0
            for name in names:
                width = float(np.mean([float(np.mean([*each.get(name, {}).values()] or [0.0])) for each in runs]))
                label = name if place == 0 else None
                axes.barh(place, width, left=left, height=0.5, color=colours[name], alpha=0.8, label=label)
                left += width
            axes.text(0, place - 0.28, _counted(method.label, runs), va="bottom", fontsize=8)
        axes.set(yticks=[], ylim=(len(found) - 0.5, -0.75), xlabel="share" if share else "seconds an iteration")
        axes.spines["left"].set_visible(False)
        caption = f"{caption} Means over iterations and seeds."
    if share:
        _percent(axes, "y" if axes.get_xlabel() == "updates" else "x")
    _legend(figure, axes)
    return Plot(title, _coloured(figure), caption)


# ---- rollback


def _rollbacks(methods: Sequence[Method]) -> Plot | None:
    """Draw how often steps are taken back before and after the stage, over all seeds of a method together."""
    measured = [(method, [rates for run in method.runs if len(rates := run.rollbacks) > 1]) for method in methods]
    measured = [(method, runs) for method, runs in measured if runs]
    if not measured:
        return None
    kinds = sorted({kind for _, runs in measured for rates in runs for kind in rates[-1]})
    figure, panels = _figure(1.0 + len(measured) * (0.3 + 0.3 * len(kinds)), rows=len(measured))
    for axes, (method, runs) in zip(panels, measured, strict=True):
        for place, kind in enumerate(kinds):
            for end, colour, offset, label in ((0, _FAINT, -0.17, "before"), (-1, _GOOD, 0.17, "after")):
                pairs = [rates[end].get(kind, (0, 0)) for rates in runs]
                verified, shown = (sum(numbers) for numbers in zip(*pairs, strict=True))
                if shown:
                    rate = verified / shown
                    axes.barh(place + offset, rate, height=0.3, color=colour, label=label if place == 0 else None)
                    axes.annotate(
                        f"{verified}/{shown}",
                        (rate, place + offset),
                        (3, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=7,
                    )
        axes.set(yticks=range(len(kinds)), yticklabels=kinds, xlim=(0, 1.12), ylim=(len(kinds) - 0.5, -0.5))
        axes.tick_params(axis="y", length=0)
        if len(methods) > 1:
            axes.set_title(_counted(method.label, runs), loc="left", fontsize=9, color=_INK)
    panels[-1].set(xlabel="steps taken back", xticks=(0, 0.25, 0.5, 0.75, 1))
    _percent(panels[-1])
    _legend(figure, panels[0])
    caption = (
        "Steps that the model took back when asked to, verified by fingerprint, before and after the rollback stage, by "
        "kind of action. Beside the bars: counts."
    )
    return Plot("Rollback", _coloured(figure), caption)


def _coloured(figure: Figure) -> str:
    text = _svg(figure)
    for number, colour in enumerate(_COLOURS, 1):
        text = text.replace(colour, f"var(--c{number})")
    return text
