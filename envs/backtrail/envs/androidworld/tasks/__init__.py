"""Tasks on the simulated phone."""
