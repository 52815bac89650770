"""E2: identifiers match whole and in ASCII."""

from __future__ import annotations

import re
import uuid
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint import ids
from trigpoint.errors import InvalidInput, InvalidReference


@pytest.mark.parametrize("ref", ["25/01178/REM", "23/01421/TCA", "08/00707/F", "25/0117/REM"])
def test_the_contracts_references_pass_unchanged(ref: str) -> None:
    assert ids.parse_application_ref(ref) == ref


@pytest.mark.parametrize(
    "ref", ["ABC", "25/01178/rem", "25/01178/REM\n", "٢٥/01178/REM", "25/011781/REM", "25/01178/REMED", "", None, 7]
)
def test_other_references_are_refused_with_the_contracts_message(ref: object) -> None:
    with pytest.raises(InvalidReference, match="Expected format: YY/NNNNN/XXX"):
        ids.parse_application_ref(ref)


@given(st.from_regex(re.compile(r"[A-Z][A-Z0-9]{0,8}(_[A-Z0-9]{1,8}){0,3}", re.ASCII), fullmatch=True))
def test_policy_slugs_of_the_contracts_pattern_pass(slug: str) -> None:
    assert ids.parse_policy_source(slug) == slug


@pytest.mark.parametrize("slug", ["nppf", "NPPF_", "_NPPF", "NP PF", "1NPPF", "NPPF\n", "A" * 65, "", None])
def test_other_slugs_are_refused(slug: object) -> None:
    with pytest.raises(InvalidInput):
        ids.parse_policy_source(slug)


@given(st.uuids(version=4))
def test_a_uuid_in_any_case_becomes_lower_case(value: object) -> None:
    assert ids.parse_uuid(str(value).upper()) == str(value)


@pytest.mark.parametrize(
    "text",
    [
        "00000000-0000-0000-0000-000000000000",
        "not-a-uuid",
        "{00000000-0000-4000-a000-000000000001}",
        "00000000-0000-4000-a000-000000000001\n",
    ],
)
def test_other_uuids_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        ids.parse_uuid(text)


def test_review_ids_sort_by_time_and_have_a_ulid() -> None:
    made = [ids.new_review_id() for _ in range(3)]
    assert all(re.fullmatch(r"rev_[0-9A-HJKMNP-TV-Z]{26}", i) for i in made)
    assert len(set(made)) == 3


def test_a_revision_is_named_by_month_then_by_day() -> None:
    assert ids.revision_id_candidates("NPPF", date(2024, 12, 12)) == ("rev_NPPF_2024_12", "rev_NPPF_2024_12_12")


def test_many_uuids_are_as_good_as_one():
    made = list(ids.new_uuids(1000))
    assert len(set(made)) == 1000
    for one in made:
        read = uuid.UUID(ids.parse_uuid(one))
        assert str(read) == one
        assert (read.version, read.variant) == (4, uuid.RFC_4122)
