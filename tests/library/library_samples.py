"""What the library's tests are made of: a projects file, chunks as a client sends them, words for vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trigpoint.config import Settings, load_settings

MODEL = "fastembed/all-MiniLM-L6-v2"
PROJECT = "citeloom/clean-arch"
DDD = "citeloom/ddd"

PROJECTS_FILE = f"""
[library.projects."{PROJECT}"]
embed_model = "{MODEL}"
[library.projects."{DDD}"]
embed_model = "{MODEL}"
hybrid_enabled = false
[library.projects."plain"]
"""


def library_settings(folder: Path, projects: str = PROJECTS_FILE, **more: Any) -> Settings:
    file = folder / "trigpoint.toml"
    file.write_text(projects, encoding="utf-8")
    return load_settings(trigpoint_data_dir=folder / "data", trigpoint_config=file, text_workers=1, **more)


def seeded_vector(seed: int, size: int = 384) -> list[float]:
    vector = np.random.default_rng(seed).standard_normal(size)
    return [round(float(v), 6) for v in vector / np.linalg.norm(vector)]


def item(
    name: str = "chunk-abc123",
    text: str = "Entities and value objects are distinct building blocks of the domain.",
    *,
    seed: int = 1,
    project: str = PROJECT,
    model: str = MODEL,
    **metadata: Any,
) -> dict[str, Any]:
    """A chunk as the contract shows it."""
    return {
        "id": name,
        "text": text,
        "embedding": seeded_vector(seed),
        "metadata": {
            "project": project,
            "source": {"path": "docs/clean-arch.pdf", "title": "Clean Architecture"},
            "zotero": {"citekey": "cleanArchitecture2023", "tags": ["architecture"], "doi": "10.1000/xyz123"},
            "doc": {"page_span": [45, 46], "section": "Entities", "section_path": ["Part I", "Chapter 3"]},
            "embed_model": model,
            "version": "1",
            "fulltext": text,
            **metadata,
        },
    }
