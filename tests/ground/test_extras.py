"""What only some users need is an extra; without it, one line says which to install."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from trigpoint.config import load_settings
from trigpoint.errors import ConfigurationError
from trigpoint.extras import needs_extra
from trigpoint.library.library import open_stores


def test_a_missing_package_is_named_with_its_extra() -> None:
    with pytest.raises(ConfigurationError, match=r"Maps needs no_such_map.*Install trigpoint\[maps\]"):
        with needs_extra("maps", "no_such_map", "Maps"):
            import no_such_map.tiles  # noqa: F401


def test_another_missing_module_is_not_blamed_on_the_extra() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_map"):
        with needs_extra("zotero", "pyzotero", "Zotero's API"):
            import no_such_map  # noqa: F401


def test_a_library_on_qdrant_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("qdrant_client", "trigpoint.passages.qdrant"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    settings = load_settings(trigpoint_data_dir=tmp_path, qdrant_url="http://127.0.0.1:1")
    with pytest.raises(
        ConfigurationError, match=r"QDRANT_URL=http://127\.0\.0\.1:1 needs qdrant_client.*trigpoint\[qdrant\]"
    ):
        open_stores(settings)
