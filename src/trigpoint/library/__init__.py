"""The library: citation-ready retrieval of a project's own sources. Knows nothing of planning."""
