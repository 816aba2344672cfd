"""AndroidWorld: tasks on a simulated phone or an Android emulator."""

from backtrail.envs.androidworld.env import AndroidWorldEnv
from backtrail.envs.androidworld.simulator import as_android_env

__all__ = ["AndroidWorldEnv", "as_android_env"]
