"""One of several processes that train together; the test starts it with torch.distributed's variables.

Usage: python ddp_run.py MODEL METHOD FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from making_runs import quick, setup

from backtrail.training.pipeline import train


def main(model: str, method: str, folder: str) -> None:
    """Train; alone if there are no other processes."""
    import torch  # here, because doctests are looked for in this file where torch is missing, too
    from accelerate import Accelerator

    torch.set_num_threads(1)
    config = quick(method, sft_steps=1, group=3, eval_every=0)
    train(setup(Path(model)), config, folder, accelerator=Accelerator(cpu=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
