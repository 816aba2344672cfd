"""The conformance kit accepts what keeps the laws and catches what breaks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs import Snapshot, testing
from backtrail.envs.testing import Corridor, ExplorableTests, check_explorable

walks = st.lists(st.integers(0, 63), max_size=24)


class TestCorridor(ExplorableTests):
    def make(self) -> Corridor:
        return Corridor(4)


@given(st.integers(0, 99), walks)
def test_the_laws_take_walks_from_property_tests(seed: int, walk: list[int]) -> None:
    for law in (testing.check_restore, testing.check_bytes, testing.check_undo, testing.check_fresh_info):
        law(lambda: Corridor(3), seed, walk)


class Forgetful(Corridor):
    """Restores the wrong room."""

    def restore(self, snapshot: Snapshot) -> Any:
        super().restore(snapshot)
        self._room = 0
        return self._observe(), self._info("")


class Moody(Corridor):
    """Depends on what other environments did."""

    steps = 0

    def step(self, action: str) -> Any:
        Moody.steps += 1
        observation, *rest = super().step(action)
        return {**observation, "text": f"{observation['text']} {Moody.steps % 7}"}, *rest


class Gullible(Corridor):
    """Takes any snapshot."""

    def restore(self, snapshot: Snapshot) -> Any:
        if isinstance(snapshot.payload[0], int):
            self._room, self._last = snapshot.payload
        return self._observe(), self._info("")


class Shared(Corridor):
    """Hands out its own lists."""

    def _possible(self) -> list[str]:
        self._lists: dict[int, list[str]] = getattr(self, "_lists", {})
        return self._lists.setdefault(self._room, super()._possible())


class Silent(Corridor):
    """Never says what was wrong."""

    def _info(self, error: str, won: bool = False) -> dict[str, Any]:
        return super()._info("", won)


class Fragile(Corridor):
    """A wrong action moves the agent."""

    def step(self, action: str) -> Any:
        result = super().step(action)
        if result[4]["action_error"]:
            self._room = (self._room + 1) % self.rooms
        return result


class Vague(Corridor):
    """Its fingerprint leaves the room out."""

    def fingerprint(self) -> str:
        return "corridor" if self._room else "the first room"


class Fickle(Corridor):
    """Its fingerprint depends on when it is asked."""

    def fingerprint(self) -> str:
        self._asked = getattr(self, "_asked", 0) + 1
        return f"{super().fingerprint()} {self._asked}"


class Numbered(Corridor):
    """Its fingerprint is no string."""

    def fingerprint(self) -> Any:
        return self._room


class Terse(Corridor):
    """Info lacks what results need."""

    def _info(self, error: str, won: bool = False) -> dict[str, Any]:
        info = super()._info(error, won)
        del info["success"]
        return info


class Flying(Corridor):
    """Offers to undo by what cannot be done."""

    def undo_actions(self) -> list[str]:
        return ["fly"]


class Hashed(Corridor):
    """Its fingerprint is another one in every process."""

    def fingerprint(self) -> str:
        return str(hash(f"room {self._room}"))


FAULTS = [Forgetful, Moody, Gullible, Shared, Silent, Fragile, Vague, Fickle, Numbered, Terse, Flying]


@pytest.mark.parametrize("broken", FAULTS)
def test_every_fault_is_caught(broken: Callable[[int], Corridor]) -> None:
    with pytest.raises(AssertionError):
        check_explorable(lambda: broken(4))


def test_a_fault_that_only_shows_in_another_process_is_caught() -> None:
    testing.check_processes(Corridor)
    with pytest.raises(AssertionError, match="process"):
        testing.check_processes(Hashed)


def test_a_broken_law_is_named_with_its_walk() -> None:
    with pytest.raises(AssertionError) as caught:
        check_explorable(lambda: Flying(4))
    assert any("check_undo" in note and "walk=[" in note for note in caught.value.__notes__)
    with pytest.raises(TypeError, match="function or class"):
        check_explorable(Corridor(4))  # pyright: ignore[reportArgumentType]
