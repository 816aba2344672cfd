"""The command line's entry point; the commands themselves are in `backtrail.benchmarks.commands`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without the extra ``report`` say how to install it and exit with 1."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.stderr.write(f'The command line needs the package {error.name}. Run: pip install "backtrail[report]"\n')
        raise SystemExit(1) from None
    from backtrail.benchmarks.commands import app

    app()
