"""Whose words a passage holds: the source's own, or a reader's highlights, comments and notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

PassageKind = Literal["source", "highlight", "comment", "note"]
KINDS: tuple[PassageKind, ...] = ("source", "highlight", "comment", "note")
REFERENCE_LIST = "references"  # the part of a document that lists its sources


def kind_of(metadata: Mapping[str, Any]) -> PassageKind:
    """Return the kind of a passage. What version 0.1.0 took from Zotero's annotations counts as a highlight."""
    doc = metadata.get("doc")
    if not isinstance(doc, Mapping):
        return "source"
    for kind in KINDS:
        if doc.get("kind") == kind:
            return kind
    return "highlight" if doc.get("type") == "annotation" else "source"
