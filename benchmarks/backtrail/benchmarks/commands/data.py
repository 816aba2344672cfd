"""``backtrail data``: the official data of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import DownloadColumn, TransferSpeedColumn

from backtrail.benchmarks.commands.console import bad_input, counter, emit_json, fail, note, progress_bar
from backtrail.benchmarks.commands.options import Json

__all__ = ["data"]

_HINT = "Generated games (--data generated) need no download. By hand: unpack the archive and set ALFWORLD_DATA to its folder."


def data(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="alfworld or webshop.")],
    source: Annotated[
        Path | None, typer.Argument(metavar="SOURCE", help="webshop: the folder of the official JSON files.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where it goes; ALFWORLD_DATA or BACKTRAIL_WEBSHOP, or a cache, by default."
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="alfworld: another address of the archive, e.g. a mirror (http, https, file)."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="alfworld: replace files that differ from the archive's.")
    ] = False,
    nouns: Annotated[
        str, typer.Option(metavar="SOURCE", help="webshop: nouns of titles: sm-3.8.0 (spaCy), approx, or a JSON file.")
    ] = "sm-3.8.0",
    price_seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="webshop: of the hidden prices, which the original leaves to chance."),
    ] = 0,
    goal_seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="webshop: of the price limits alone; 233 as AgentGym draws them."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Get the official data of a benchmark.

    alfworld: downloads the games (37 MB, 340 MB unpacked), reads and checks them; an interrupted download goes on where it
    stopped. webshop: builds the catalogue from the official JSON files, which have to be fetched by hand: the documentation
    says from where.
    """
    match benchmark:
        case "alfworld":
            if source is not None:
                fail("alfworld is downloaded: expected no SOURCE (--url takes a mirror)")
            _alfworld(folder, url, force, as_json)
        case "webshop":
            if source is None:
                fail('Expected the folder of the official files: "backtrail data webshop SOURCE"')
            if url is not None or force:
                fail("webshop is built from local files: expected neither --url nor --force")
            _webshop(source, folder, nouns, {"price_seed": price_seed, "goal_seed": goal_seed}, as_json)
        case _:
            fail(f"Unknown benchmark {benchmark!r}: expected alfworld or webshop")


def _alfworld(folder: Path | None, url: str | None, force: bool, as_json: bool) -> None:
    from backtrail.benchmarks import download
    from backtrail.envs.alfworld.tasks import default_folder

    folder = (folder or default_folder()).expanduser().resolve()
    try:
        if force or not download.has_alfworld(folder):
            _get(folder, url or download.ALFWORLD_URL, force)
        else:
            note(f"The games are at {folder} already.")
        with counter("Checking") as progress:
            counts = download.check_alfworld(folder, progress)
    except download.DownloadError as error:
        fail(str(error), code=1, hint=_HINT)
    except KeyboardInterrupt:
        note("Stopped. What has come is kept; the same command goes on.")
        raise typer.Exit(130) from None
    _tell(folder, counts, as_json)


def _webshop(source: Path, folder: Path | None, nouns: str, seeds: dict[str, Any], as_json: bool) -> None:
    from backtrail.benchmarks.webshop_data import build_from
    from backtrail.envs.webshop.catalogue import default_folder, open_catalogue

    folder = (folder or default_folder()).expanduser().resolve()
    with bad_input(), progress_bar() as bar:
        task = bar.add_task("Reading", total=None)
        try:
            counts = build_from(
                source,
                folder,
                nouns,
                lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total or None),
                **seeds,
            )
        except KeyboardInterrupt:
            note("Stopped. Nothing was changed.")
            raise typer.Exit(130) from None
        found = open_catalogue(folder)
    told = {"folder": str(folder), **counts, "data": found.label, "nouns": found.nouns_name, "digest": found.digest}
    if as_json:
        emit_json(told)
        return
    typer.echo(f"{folder}: {', '.join(f'{number:,} {what}' for what, number in counts.items())} ({found.label})")
    note(f"Nouns {found.nouns_name}, seeds {found.meta['seeds']}, digest {found.digest[:16]}.")
    note(f"Use it with --data {'official' if folder == default_folder().resolve() else folder}")


def _get(folder: Path, url: str, force: bool) -> None:
    from backtrail.benchmarks import download

    archive = folder / url.rpartition("/")[2]
    note(f"Fetching {url} to {folder}")
    with counter("Fetching", False, DownloadColumn(), TransferSpeedColumn()) as progress:
        download.fetch(url, archive, sha256=download.ALFWORLD_SHA256, progress=progress)
    with counter("Unpacking") as progress:
        written = download.unpack(archive, folder, force=force, progress=progress)
    archive.unlink()
    note(f"Unpacked {written:,} files.")


def _tell(folder: Path, counts: dict[str, int], as_json: bool) -> None:
    from backtrail.benchmarks import download
    from backtrail.envs.alfworld.tasks import default_folder

    if as_json:
        emit_json({"folder": str(folder), "games": counts, "data": download.LABEL})
        return
    typer.echo(f"{folder}: {', '.join(f'{split} {number:,}' for split, number in counts.items())} games")
    note(
        f"Checked: the number of games, that each can be read, and that rules and grammar are those of {download.LABEL}."
    )
    note(f"Use them with --data {'official' if folder == default_folder() else folder}")
