"""Fixtures of the review tests: evidence of the sample applications, each read once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from review_samples import read_sample

from trigpoint.review.evidence import Evidence

sys.path.insert(0, str(Path(__file__).parents[2]))  # the scoring of reviews stands with the benchmarks


@pytest.fixture(scope="session")
def sample_evidence(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Evidence]:
    """The evidence of one sample application, from its PDFs."""
    made: dict[str, Evidence] = {}

    def read(reference: str) -> Evidence:
        if reference not in made:
            made[reference] = read_sample(reference, tmp_path_factory.mktemp("samples"))
        return made[reference]

    return read
