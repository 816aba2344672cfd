"""Environments that know where the agent is, how often it has been there, and how to go back.

Importing this package registers the ids ``backtrail/...`` with Gymnasium.
"""

from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError, restore
from backtrail.envs.registration import register_envs
from backtrail.envs.spaces import FreeText
from backtrail.envs.vector import make_vec
from backtrail.envs.wrappers import Fingerprint, Record, Rollback, VisitCount

register_envs()

__all__ = [
    "ExplorableEnv",
    "Fingerprint",
    "FreeText",
    "Record",
    "Rollback",
    "Snapshot",
    "SnapshotError",
    "VisitCount",
    "make_vec",
    "restore",
]
