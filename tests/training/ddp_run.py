"""One of several processes that train together; the test starts it with torch.distributed's variables.

Usage: python ddp_run.py MODEL METHOD FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from making_runs import quick, setup

from backtrail.training.pipeline import train
from backtrail.training.processes import processes


def main(model: str, method: str, folder: str) -> None:
    """Train; alone if there are no other processes."""
    import torch  # here, because doctests are looked for in this file where torch is missing, too

    torch.set_num_threads(1)
    config = quick(method, sft_steps=1, group=3, eval_every=0)
    with processes() as accelerator:
        train(setup(Path(model)), config, folder, accelerator=accelerator)


if __name__ == "__main__":
    main(*sys.argv[1:])
