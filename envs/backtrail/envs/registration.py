"""The ids that ``import backtrail.envs`` registers."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

IDS = ("backtrail/ALFWorld-v0", "backtrail/WebShop-v0")


def register_envs() -> None:
    """Register the environments; a second call changes nothing."""
    if "backtrail/ALFWorld-v0" not in registry:
        register(
            id="backtrail/ALFWorld-v0",
            entry_point="backtrail.envs.alfworld.env:ALFWorldEnv",
            max_episode_steps=50,
        )
    if "backtrail/WebShop-v0" not in registry:
        register(id="backtrail/WebShop-v0", entry_point="backtrail.envs.webshop.env:WebShopEnv", max_episode_steps=15)
