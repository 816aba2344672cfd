"""The stand-in is a program, not tests: it needs android_env even to be imported."""

collect_ignore_glob = ["*.py"]
