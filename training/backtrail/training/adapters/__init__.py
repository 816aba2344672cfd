"""Our environments in other people's trainers, a module each; docs/adapters.md shows them."""
