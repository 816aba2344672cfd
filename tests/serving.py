"""A server that tests talk to."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def served(opened: str, *words: str) -> Iterator[str]:
    """Run ``backtrail WORDS`` as a user would run it and give the address that it says.

    It has to say what it has ``opened``, and to end cleanly at Ctrl-C.
    """
    server = subprocess.Popen(
        [sys.executable, "-c", "from backtrail.benchmarks.cli import main; main()", *words],
        # where the tests run in the background SIGINT is ignored, which children inherit; at a terminal it is not
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads here
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdout
    try:
        yield server.stdout.readline().strip()
    finally:
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=60)
    assert server.returncode == 0
    assert out == ""  # one line was all
    assert opened in err and "Ctrl-C closes it" in err
    assert err.endswith("Closed.\n")
    assert "Traceback" not in err
