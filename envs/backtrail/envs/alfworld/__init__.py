"""ALFWorld: the text game, its generator, its expert and the original stack behind the same API."""

from backtrail.envs.alfworld.env import ALFWorldEnv
from backtrail.envs.alfworld.game import GameError

__all__ = ["ALFWorldEnv", "GameError"]
