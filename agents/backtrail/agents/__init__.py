"""Who acts: the agent protocol, the baselines without a model and the agents with one."""

from backtrail.agents.base import Agent, AgentError, Task, Turn
from backtrail.agents.baselines import Expert, Human, Null, Random, Replay
from backtrail.agents.direct import Direct
from backtrail.agents.explorer import BriefExplorer, Explorer
from backtrail.agents.model_agent import ModelAgent
from backtrail.agents.react import ReAct
from backtrail.agents.searcher import Searcher

__all__ = [
    "Agent",
    "AgentError",
    "BriefExplorer",
    "Direct",
    "Expert",
    "Explorer",
    "Human",
    "ModelAgent",
    "Null",
    "Random",
    "ReAct",
    "Replay",
    "Searcher",
    "Task",
    "Turn",
]
