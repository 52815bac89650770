"""The list of provisions: complete, well-formed, and refused when it is not."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from trigpoint.errors import InvalidInput
from trigpoint.policies.models import Policy, PolicyCategory
from trigpoint.policies.provisions import load_provisions, parse_provisions, provision_by_id
from trigpoint.policies.seed import load_seed

ONE = """
- id: quiet_streets
  source: LTN_1_20
  kind: design
  title: Quiet streets
  requires: People cycle on streets with little traffic.
  phrasings: [quiet mixed traffic streets]
"""


def test_every_policy_that_ships_has_provisions():
    seeded = {policy.source: policy.category for policy in load_seed()}
    stated = Counter(p.source for p in load_provisions() if p.source)
    by_category = Counter(p.category for p in load_provisions() if p.category)

    assert stated["NPPF"] >= 25
    assert set(stated) <= set(seeded)
    assert all(stated[source] or by_category[category] for source, category in seeded.items())


def test_provisions_are_found_by_id_and_have_phrasings():
    assert provision_by_id()["cycle_parking_rates"].source == "LTN_1_20"
    assert all(provision.phrasings for provision in load_provisions())


def test_a_provision_of_a_category_may_be_stated_in_any_policy_of_it():
    plan = Policy("TEWKESBURY_PLAN", "Plan", None, PolicyCategory.LOCAL_PLAN, datetime.now(UTC), None)

    assert provision_by_id()["local_sustainable_modes"].may_be_stated_in(plan)
    assert not provision_by_id()["priority_walking_cycling"].may_be_stated_in(plan)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (ONE + ONE, "quiet_streets"),
        (ONE.replace("source: LTN_1_20", "source: ltn"), "source"),
        (ONE.replace("  source: LTN_1_20\n", ""), "either source or category"),
        (ONE.replace("kind: design", "kind: wish"), "kind"),
        (ONE.replace("[quiet mixed traffic streets]", "[]"), "phrasings"),
        (ONE + "  section: Chapter 7\n", "section"),
    ],
)
def test_a_malformed_list_is_refused_by_name(text, complaint):
    with pytest.raises((ValueError, InvalidInput), match=complaint):
        parse_provisions(text)
