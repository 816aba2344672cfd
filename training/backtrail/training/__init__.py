"""How agents learn: rollouts, rewards, grouped advantages, and the loop around them."""

from backtrail.training.config import Config
from backtrail.training.pipeline import train
from backtrail.training.presets import PRESETS, preset
from backtrail.training.run import Setup
from backtrail.training.transition import Transition
from backtrail.training.workers import EnvRecipe

__all__ = ["PRESETS", "Config", "EnvRecipe", "Setup", "Transition", "preset", "train"]
