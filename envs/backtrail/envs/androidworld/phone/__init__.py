"""A simulated phone: apps, touch, a clock of its own, and snapshots."""

from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["Phone"]
