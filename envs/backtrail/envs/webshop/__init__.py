"""WebShop: the environment, and published set-ups of it."""

from backtrail.envs.webshop.env import WebShopEnv
from backtrail.envs.webshop.presets import preset

__all__ = ["WebShopEnv", "preset"]
