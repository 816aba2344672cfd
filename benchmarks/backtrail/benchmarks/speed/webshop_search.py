"""What WebShop's search costs: ``python -m backtrail.benchmarks.speed.webshop_search --documents 100000``.

Generated products are written to a file first, so that only the index is measured. Each build and each engine runs in a
process of its own; figures are medians over the runs. Timings depend on the machine and on what else runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from backtrail.envs.webshop import generate
from backtrail.envs.webshop.bm25 import Engine, Index

ENGINES: tuple[Engine, ...] = ("numpy", "numba")

_KIB, _MIB = 1 << 10, 1 << 20


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000, help="products to search in")
    parser.add_argument("--queries", type=int, default=300, help="half of them titles, half instructions")
    parser.add_argument("--runs", type=int, default=3, help="builds, and rounds of all queries with each engine")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as aside:
        texts, folder = Path(aside) / "texts", Path(aside) / "search"
        queries = _write(texts, given.documents, given.queries)
        builds = [_in_process(_build, texts, folder) for _ in range(given.runs)]
        rows = {
            "build, seconds": _median(row["seconds"] for row in builds),
            "build, CPU seconds": _median(row["cpu"] for row in builds),
            "build, peak memory of the process, MiB": _median(row["peak"] for row in builds),
            "index on disk, MiB": sum(path.stat().st_size for path in folder.iterdir()) / _MIB,
        }
        for engine in ENGINES if importlib.util.find_spec("numba") else ENGINES[:1]:
            rows |= _in_process(_search, folder, engine, queries, given.runs)
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, ")
    sys.stdout.write(f"{given.documents:,} generated products, {given.queries} queries, {given.runs} runs\n\n")
    sys.stdout.write("| what | figure |\n| --- | --- |\n")
    sys.stdout.writelines(f"| {name} | {figure:,.3g} |\n" for name, figure in rows.items())


def _write(path: Path, documents: int, queries: int) -> list[str]:
    """Write a line of text for each product and return queries spread over them."""
    found, every = [], max(1, documents // queries)
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(generate.rows(documents)):
            product = row["product"]
            options = product["customization_options"] or {}
            values = [value["value"] for named in options.values() for value in named or ()]
            parts = [product["name"], product["full_description"], product["small_description"][0], *options, *values]
            file.write(f"{product['asin']}\t{' '.join(' '.join(parts).split()).lower()}\n")
            if number % every == 0 and len(found) < queries:
                wish = row["attributes"].get("instruction") or product["query"]
                found.append((wish if len(found) % 2 else product["name"]).lower())
    return found


def _documents(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            name, _, text = line.partition("\t")
            yield name, text


def _build(texts: Path, folder: Path) -> dict[str, float]:
    started, used = time.perf_counter(), time.process_time()
    Index.build(_documents(texts), texts.parent).save(folder)
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    return {"seconds": seconds, "cpu": cpu, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB / _MIB}


def _search(folder: Path, engine: Engine, queries: Sequence[str], runs: int) -> dict[str, float]:
    def opened() -> float:
        started = time.perf_counter()
        Index.open(folder)
        return time.perf_counter() - started

    opens, times = [opened() for _ in range(max(runs, 5))], []
    index = Index.open(folder)
    index.engine = engine
    started = time.perf_counter()
    index.search(queries[0])
    first = time.perf_counter() - started
    for _ in range(runs):
        for query in queries:
            started = time.perf_counter()
            index.search(query)
            times.append(time.perf_counter() - started)
    times.sort()
    return {
        "open, ms": 1e3 * statistics.median(opens),
        f"first search with {engine}, ms": 1e3 * first,
        f"search with {engine}, median, ms": 1e3 * statistics.median(times),
        f"search with {engine}, p95, ms": 1e3 * times[len(times) * 95 // 100],
    }


def _in_process(work: Callable[..., dict[str, float]], *arguments: Any) -> dict[str, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def _median(values: Iterator[float]) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    main()
