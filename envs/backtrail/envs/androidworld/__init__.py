"""AndroidWorld: tasks on a phone."""
