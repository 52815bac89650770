"""The letter to the council: its type, the words that rules write, and what must never be in it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from trigpoint.review.letter import Condition, Ground, Letter


def test_a_point_goes_with_the_finding_it_rests_on() -> None:
    letter = Letter(
        stance="object",
        grounds=(
            Ground(id="a", text="The racks are too few.", rests_on=("cycle_parking.long_stay",)),
            Ground(id="b", text="The path is too narrow.", rests_on=("cycle_routes.width",)),
            Ground(id="c", text="My own point.", kind="remark"),
        ),
        conditions=(Condition(text="No dwelling shall be occupied …", rests_on=("cycle_parking.long_stay",)),),
    )
    left = letter.resting_on({"cycle_routes.width"})
    assert [ground.id for ground in left.grounds] == ["b", "c"]
    assert left.conditions == ()


def test_two_points_with_one_id_are_refused() -> None:
    with pytest.raises(ValidationError, match="two points of the letter have the id 'a'"):
        Letter(stance="comment", grounds=(Ground(id="a", text="One."), Ground(id="a", text="Two.")))
