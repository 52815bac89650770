"""Names of embedding models: ids that end in `all-MiniLM-L6-v2`, with or without a namespace, are our own embedding."""

from __future__ import annotations

OUR_MODEL = "all-MiniLM-L6-v2"


def is_our_model(name: str) -> bool:
    return name == OUR_MODEL or name.endswith("/" + OUR_MODEL)


def same_model(one: str, other: str) -> bool:
    """Return whether two model ids mean the same embedding."""
    return one == other or (is_our_model(one) and is_our_model(other))


def model_key(name: str | None) -> str:
    """Return one name for all ids of our own embedding."""
    return OUR_MODEL if name is not None and is_our_model(name) else name or ""
