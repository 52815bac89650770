"""What a sentence says of a thing: that it is so, that it is not, or neither."""

from __future__ import annotations

import re

import pytest

from trigpoint.review.denials import is_said

SAID = [
    "A toucan crossing is provided.",
    "A toucan crossing is provided but a refuge is not proposed.",
    "A toucan crossing is provided where a refuge is not proposed.",
    "Although not required by policy, a toucan crossing will be provided.",
    "As requested by the highway authority, a toucan crossing will be provided.",
    "The toucan crossing requested by the county will be provided.",
    "The road is not busy, but a toucan crossing is provided.",
    "No dwelling shall be occupied until a toucan crossing is provided.",
    "A toucan crossing will be provided in place of the refuge.",
    "A toucan crossing will not only be provided but lit.",
    "The toucan crossing will be no less than 4 m wide.",
    "A toucan crossing will be provided, and no land is needed.",
    "There are no objections to a toucan crossing.",
    "A toucan crossing with dropped kerbs is provided.",
    "A toucan crossing is considered necessary and will be provided.",
    "A toucan crossing has been agreed and will be built; a refuge was rejected.",
]
DENIED = [
    "No toucan crossing is proposed.",
    "A toucan crossing is not proposed.",
    "A toucan crossing of the A4260 was considered and has been discounted on cost grounds.",
    "No refuge, zebra or toucan crossing is proposed.",
    "A toucan crossing, a zebra and a refuge are not proposed.",
    "A toucan crossing, which was asked for by the county, is not proposed.",
    "The applicant will not provide a refuge or a toucan crossing.",
    "The applicant refuses to fund a toucan crossing.",
    "The applicant objects to a toucan crossing.",
    "A toucan crossing was requested by the highway authority but is not offered.",
    "It is not considered that the flow justifies a toucan crossing.",
    "A toucan crossing is no longer proposed.",
    "A toucan crossing cannot be delivered within the highway boundary.",
    "There is no need for a toucan crossing.",
    "The lack of a toucan crossing is noted.",
    "A toucan crossing has been ruled out.",
    "A refuge will be provided in place of the toucan crossing.",
    "Rather than a toucan crossing, a refuge is offered.",
    "A toucan crossing is not needed, because flows are light.",
    "The toucan crossing isn’t included.",
    "Toucan crossing: none",
    "The toucan crossing was omitted from the revised layout.",
    "Neither a toucan crossing nor a refuge is proposed.",
    "The developer is unable to provide a toucan crossing.",
    "A toucan crossing is not part of the proposal.",
    "A toucan crossing does not form part of these proposals.",
    "A toucan crossing was considered at length but was found to be impracticable.",
    "A toucan crossing was offered at first, but this has been withdrawn.",
    "It was decided not to pursue a toucan crossing.",
]
NEITHER = [
    "The county asked for a toucan crossing; the applicant declines to provide it.",
    "The applicant objects to the request for a toucan crossing.",
    "A toucan crossing was requested by the highway authority.",
    "Officers suggested a toucan crossing.",
    "A toucan crossing would be desirable but the applicant declines to provide it.",
    "A toucan crossing will not be provided until 2030.",
    "The existing toucan crossing was removed in 2019.",
    "The applicant will not provide a refuge and a toucan crossing.",
    "No toucan crossing will be omitted.",
]


@pytest.mark.parametrize(
    ("text", "answer"),
    [(text, True) for text in SAID] + [(text, False) for text in DENIED] + [(text, None) for text in NEITHER],
)
def test_a_thing_is_said_denied_or_neither(text: str, answer: bool | None) -> None:
    match = re.search("toucan crossing", text, re.IGNORECASE)
    assert match is not None
    assert is_said(text, *match.span()) is answer


@pytest.mark.parametrize(
    ("text", "thing", "answer"),
    [
        ("No connections are closed; five others are open.", "no connections", None),
        ("No connection is made to the village green.", "no connection", True),
        ("There is no footway and no cycle route.", "no cycle route", True),
        ("There will be no uncontrolled crossings.", "uncontrolled crossing", False),
        ("Street trees: no street trees will be lost.", "no street trees", None),
    ],
)
def test_what_is_itself_a_denial_is_denied_only_by_another(text: str, thing: str, answer: bool | None) -> None:
    match = re.search(thing, text, re.IGNORECASE)
    assert match is not None
    assert is_said(text, *match.span()) is answer
