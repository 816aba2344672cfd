"""What a WebShop catalogue costs: ``python -m backtrail.benchmarks.speed.webshop_build --products 100000``.

A generated catalogue is built in a process of its own, then opened and read in another, then opened and searched in several at
the same time, which must share its pages: the sum of their proportional set sizes counts every shared page once. Timings
depend on the machine and on what else runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from backtrail.envs.webshop import generate
from backtrail.envs.webshop.bm25 import Engine
from backtrail.envs.webshop.catalogue import open_catalogue
from backtrail.envs.webshop.catalogue_build import build

ENGINES: tuple[Engine, ...] = ("numpy", "numba")

_READS = 2000
_QUERIES = 200
_MIB = 1 << 20

Figures = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--products", type=int, default=100_000, help="size of the generated catalogue")
    parser.add_argument("--processes", type=int, default=8, help="processes that open and search it at the same time")
    parser.add_argument("--folder", type=Path, help="keep the catalogue here; a temporary folder by default")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as aside:
        folder = given.folder or Path(aside) / "catalogue"
        rows = _in_processes(_build, 1, folder, given.products)[0]
        rows |= _in_processes(_read, 1, folder)[0]
        for engine in ENGINES if find_spec("numba") else ENGINES[:1]:
            rows |= _in_processes(_search, 1, folder, engine)[0]
            shared = _in_processes(_share, given.processes, folder, engine)
            for when in shared[0]:
                name = f"{given.processes} processes with {engine}, {when}: sum of PSS, MiB"
                rows[name] = sum(row[when] for row in shared)
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, ")
    sys.stdout.write(f"{given.products:,} generated products\n\n| what | figure |\n| --- | --- |\n")
    for name, figure in rows.items():
        sys.stdout.write(f"| {name} | {figure:,.4g} |\n" if isinstance(figure, float) else f"| {name} | {figure:,} |\n")


def _build(folder: Path, barrier: Barrier, products: int) -> Figures:
    wall, cpu = time.perf_counter(), time.process_time()
    name = f"generated:{generate.VERSION}"
    catalogue = build(generate.rows(products, 0), folder, label=name, nouns=name)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    counts = catalogue.meta["counts"]
    return {
        "human goals": counts["human"],
        "synthetic goals": counts["synthetic"],
        "build: wall, s": wall,
        "build: CPU, s": cpu,
        "build: peak RSS, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "on disk, MiB": sum(size for size, _ in catalogue.meta["files"].values()) / _MIB,
        "on disk, search index, MiB": sum(
            size for file, (size, _) in catalogue.meta["files"].items() if file.startswith("search/")
        )
        / _MIB,
    }


def _read(folder: Path, barrier: Barrier) -> Figures:
    started = time.perf_counter()
    catalogue = open_catalogue(folder)
    opened = time.perf_counter() - started
    rng = random.Random(0)
    asins = [catalogue.asin(rng.randrange(len(catalogue))) for _ in range(_READS)]
    goals = catalogue.goals("synthetic")
    places = [rng.randrange(len(goals)) for _ in range(_READS)]
    return {
        "open, ms": opened * 1e3,
        "product, not seen before, median, us": _median(catalogue.product, asins) * 1e6,
        "product, kept, median, us": _median(catalogue.product, asins[-1:] * _READS) * 1e6,
        "goal, median, us": _median(goals.__getitem__, places) * 1e6,
    }


def _search(folder: Path, barrier: Barrier, engine: Engine) -> Figures:
    catalogue = open_catalogue(folder)
    catalogue.index.engine = engine
    goals, rng = catalogue.goals("synthetic"), random.Random(0)
    queries = [goals[rng.randrange(len(goals))].instruction for _ in range(_QUERIES)]
    catalogue.search("the first search loads what the engine needs")
    return {f"search by an instruction with {engine}, median, ms": _median(catalogue.search, queries) * 1e3}


def _share(folder: Path, barrier: Barrier, engine: Engine) -> Figures:
    barrier.wait()  # all are up
    before = _pss()
    barrier.wait()  # all have measured
    catalogue = open_catalogue(folder)
    catalogue.index.engine = engine
    rng = random.Random(os.getpid())
    goals = catalogue.goals("synthetic")
    for _ in range(_QUERIES):
        for asin in catalogue.search(goals[rng.randrange(len(goals))].instruction)[:10]:
            catalogue.product(asin)
    barrier.wait()  # all are done
    after = _pss()
    barrier.wait()  # all have measured
    return {"after the imports": before, f"after {_QUERIES} searches each": after}


def _pss() -> float:
    """Return this process's proportional set size in MiB."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("The kernel does not say how much memory is shared")


def _median(call: Callable[[Any], Any], values: Sequence[Any]) -> float:
    """Return the median time of a call in seconds."""
    times = []
    for value in values:
        started = time.perf_counter()
        call(value)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _in_processes(work: Callable[..., Figures], number: int, folder: Path, *more: Any) -> list[Figures]:
    """Do some work in so many new processes at the same time."""
    context = multiprocessing.get_context("spawn")
    barrier, replies = context.Barrier(number), context.SimpleQueue()
    workers = [
        context.Process(target=_report, args=(work, folder, barrier, *more), kwargs={"replies": replies})
        for _ in range(number)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("A process failed; see above")
    return [replies.get() for _ in workers]


def _report(work: Callable[..., Figures], *arguments: Any, replies: Any) -> None:
    replies.put(work(*arguments))


if __name__ == "__main__":
    main()
