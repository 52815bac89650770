"""Measurements: one file an area, `bench_*.py`, each with `run(report)`."""
