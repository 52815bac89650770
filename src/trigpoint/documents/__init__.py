"""Application documents: ingested once, searched, read back, listed, deleted."""
