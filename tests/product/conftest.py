"""A planning portal of this machine for the tests of the whole product."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trigpoint.config import load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoPortal]:
    settings = load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("portal"))
    with DemoPortal(sample_register(settings), port=0) as server:
        yield server
