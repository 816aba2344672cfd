"""Who acts: the agent protocol and the baseline agents."""

from backtrail.agents.base import Agent, AgentError, Task, Turn
from backtrail.agents.baselines import Expert, Human, Null, Random, Replay

__all__ = ["Agent", "AgentError", "Expert", "Human", "Null", "Random", "Replay", "Task", "Turn"]
