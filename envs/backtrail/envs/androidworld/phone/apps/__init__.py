"""The apps of the phone."""
