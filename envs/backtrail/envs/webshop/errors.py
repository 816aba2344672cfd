"""What can be wrong with the shop's files."""

from __future__ import annotations

import gymnasium as gym

__all__ = ["CatalogueError"]


class CatalogueError(gym.error.Error):
    """The shop's files are missing, damaged, or of another version."""
