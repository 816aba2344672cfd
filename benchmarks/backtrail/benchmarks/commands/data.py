"""``backtrail data``: the official games of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import DownloadColumn, TransferSpeedColumn

from backtrail.benchmarks.commands.console import counter, emit_json, fail, note
from backtrail.benchmarks.commands.options import Json

__all__ = ["data"]

_HINT = "Generated games (--data generated) need no download. By hand: unpack the archive and set ALFWORLD_DATA to its folder."


def data(
    benchmark: Annotated[str, typer.Argument(metavar="alfworld", help="The benchmark.")],
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the games go; ALFWORLD_DATA or a cache by default.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Another address of the archive, e.g. a mirror (http, https, file)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that differ from the archive's.")] = False,
    as_json: Json = False,
) -> None:
    """Download the official ALFWorld games.

    37 MB, 340 MB unpacked. The games are read and checked. An interrupted download goes on where it stopped.
    """
    from backtrail.benchmarks import download
    from backtrail.envs.alfworld.tasks import default_folder

    if benchmark != "alfworld":
        fail(f"Unknown benchmark {benchmark!r}: expected alfworld")
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
