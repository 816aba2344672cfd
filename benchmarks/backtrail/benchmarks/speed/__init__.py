"""Scripts that measure speed and memory; ``python -m backtrail.benchmarks.speed.NAME``. Their figures: docs/benchmarks.md."""
