"""How agents are measured: the runner, results, statistics, the audit, reports, and the command line."""
