"""Several processes that train together, as `accelerate launch` or torchrun starts them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["processes"]


@contextmanager
def processes() -> Iterator[Any]:
    """Give accelerate's object if several processes were started, else None; part from the others at the end.

    A thread of torch.distributed that outlives the interpreter aborts the process, so the group is ended here, and nothing
    may hold it: `torch.distributed.nn` is imported first, since it keeps, as defaults of its functions, a group that
    it finds on import.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield None
        return
    import torch
    import torch.distributed.nn
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    try:
        yield accelerator
    finally:
        accelerator.end_training()
