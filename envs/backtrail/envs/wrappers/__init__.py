"""Wrappers that work on any Gymnasium environment: `Fingerprint`, `VisitCount`, `Rollback`, `Record`."""

from backtrail.envs.wrappers.fingerprint import Fingerprint, fingerprint_of
from backtrail.envs.wrappers.record import Record, replay
from backtrail.envs.wrappers.rollback import Rollback
from backtrail.envs.wrappers.visits import VisitCount

__all__ = ["Fingerprint", "Record", "Rollback", "VisitCount", "fingerprint_of", "replay"]
