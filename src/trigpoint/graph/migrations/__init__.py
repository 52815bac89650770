"""The schema of the graph's database, version by version."""
