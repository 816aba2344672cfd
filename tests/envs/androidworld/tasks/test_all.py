"""What holds for every task, whichever app it is of."""

from __future__ import annotations

import pytest
from checking_tasks import SEEDS, check_other_process, check_task

from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.catalog import ALL_TASKS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ALL_TASKS)
def test_solved_by_touch(kind: type[PhoneTask], seed: int) -> None:
    check_task(kind, seed)


def test_the_same_in_another_process() -> None:
    check_other_process(ALL_TASKS)
