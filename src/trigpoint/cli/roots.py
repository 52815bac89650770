"""Folders given on the command line count as document roots, like `DOCUMENT_ROOTS` and the data folder."""

from __future__ import annotations

from pathlib import Path

from trigpoint.config import Settings, load_settings


def settings_with_roots(roots: list[Path] | None) -> Settings:
    settings = load_settings()
    if not roots:
        return settings
    return load_settings(document_roots=(*settings.document_roots, *(root.expanduser().absolute() for root in roots)))
