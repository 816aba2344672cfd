"""How agents learn; empty until the training loop lands."""
