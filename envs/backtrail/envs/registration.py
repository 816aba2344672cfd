"""The ids that ``import backtrail.envs`` registers."""

from __future__ import annotations

from gymnasium.envs.registration import WrapperSpec, register, registry

_ENTRY_POINTS = {
    "backtrail/ALFWorld-v0": ("backtrail.envs.alfworld.env:ALFWorldEnv", 50),
    "backtrail/WebShop-v0": ("backtrail.envs.webshop.env:WebShopEnv", 15),
    "backtrail/AndroidWorld-v0": ("backtrail.envs.androidworld.env:AndroidWorldEnv", 120),
}
"""Id to the environment's class and the steps of an episode."""

_WRAPPERS = {
    "backtrail/AndroidWorld-v0": (WrapperSpec("TaskBudget", "backtrail.envs.androidworld.budget:TaskBudget", {}),),
}

IDS = tuple(_ENTRY_POINTS)


def register_envs() -> None:
    """Register the environments; a second call changes nothing."""
    for env_id, (entry_point, steps) in _ENTRY_POINTS.items():
        if env_id not in registry:
            register(
                id=env_id,
                entry_point=entry_point,
                max_episode_steps=steps,
                additional_wrappers=_WRAPPERS.get(env_id, ()),
            )
