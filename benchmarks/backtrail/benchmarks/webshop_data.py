"""Building the official WebShop catalogue from files that the user has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.nouns import find_nouns
from backtrail.envs.webshop.source import OfficialFiles

__all__ = ["build_from"]


def build_from(
    source: Path,
    folder: Path,
    nouns: str,
    progress: Callable[[str, int, int], None] | None = None,
    *,
    price_seed: int = 0,
    goal_seed: int | None = None,
    shuffle_seed: int = 233,
) -> dict[str, int]:
    """Build a catalogue from the official files.

    Args:
        source: The folder of the files, or the product file in it if there are several.
        folder: Where the catalogue goes.
        nouns: "sm-3.8.0", "approx", or a JSON file that maps every title to a list of its nouns.
        progress: Called with what is being done, how much of it is done, and of how much (0 if that is not known).
        price_seed: Of the draws of prices and price limits.
        goal_seed: Of the draws of price limits alone; None goes on after the prices.
        shuffle_seed: Of the order of the goals.

    Returns:
        How many "products" there are and how many "human" and "synthetic" goals.

    Raises:
        CatalogueError: If a file is missing, damaged or in another form, or ``folder`` holds something else.
        gymnasium.error.DependencyNotInstalled: If what reads the files or finds the nouns is not installed.
    """
    files, finder = OfficialFiles(source), find_nouns(nouns)
    catalogue = build(
        files,
        folder,
        nouns=finder,
        price_seed=price_seed,
        goal_seed=goal_seed,
        shuffle_seed=shuffle_seed,
        progress=progress,
    )
    catalogue.verify()
    return dict(catalogue.meta["counts"])
