"""The letter's form: what its fields are called, and the letter that a sent form describes."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import FormData

from trigpoint.review.letter import Condition, Ground, Letter

_OWN = "own"
_PLACES = {"letter": False, "annex": True}


def letter_of(form: FormData, base: Letter) -> Letter:
    """Return the letter as the form has it. Evidence and the kinds of points, which no field shows, come from `base`.

    Raises ValidationError if a text is too long.
    """
    known = {ground.id: ground for ground in base.grounds}
    ids = [str(value) for value in form.getlist("point")]
    grounds = [_ground(form, one, known.get(one)) for one in dict.fromkeys(ids)]
    texts = {
        "reference": _line(form, "reference"),
        "site": _line(form, "site"),
        "proposal": _field_text(form, "proposal"),
        "date": _line(form, "date"),
        "opening": _unless_usual(form, "opening"),
        "closing": _unless_usual(form, "closing"),
    }
    return Letter.model_validate(
        {
            "stance": _line(form, "stance") or base.stance,
            "suggestion": base.suggestion.model_dump() if base.suggestion else None,
            **texts,
            "council": {name: _field_text(form, f"council_{name}") for name in ("name", "department", "address")},
            "sender": {
                name: _field_text(form, f"sender_{name}") for name in ("name", "organisation", "address", "email")
            },
            "grounds": [ground.model_dump() for ground in grounds if not _is_empty(ground)],
            "conditions": [_condition(form, number, one).model_dump() for number, one in enumerate(base.conditions)],
        }
    )


def printed_with(ground: Ground) -> str:
    """Return the part of the letter in which a point is printed: the grounds, the questions, or what is welcomed."""
    return ground.kind if ground.kind in ("question", "strength") else "ground"


def moved(letter: Letter, ground_id: str, step: int) -> Letter:
    """Return the letter with a point one place further up (-1) or down (1) among those that are printed with it."""
    grounds = list(letter.grounds)
    chosen = next((one for one in grounds if one.id == ground_id), None)
    if chosen is None:
        return letter
    places = [place for place, one in enumerate(grounds) if printed_with(one) == printed_with(chosen)]
    at = places.index(grounds.index(chosen))
    if not 0 <= at + step < len(places):
        return letter
    here, there = places[at], places[at + step]
    grounds[here], grounds[there] = grounds[there], grounds[here]
    return letter.model_copy(update={"grounds": tuple(grounds)})


def with_own_point(letter: Letter) -> Letter:
    """Return the letter with an empty point of the writer's own in front of questions and strengths."""
    own = Ground(id=_free_id(one.id for one in letter.grounds), kind="remark", text="")
    minor = [place for place, one in enumerate(letter.grounds) if one.kind in ("question", "strength")]
    at = minor[0] if minor else len(letter.grounds)
    return letter.model_copy(update={"grounds": (*letter.grounds[:at], own, *letter.grounds[at:])})


def _ground(form: FormData, ground_id: str, base: Ground | None) -> Ground:
    place = _PLACES.get(_line(form, f"place:{ground_id}"), False)
    known = base.model_dump() if base else {"kind": "remark"}
    return Ground.model_validate(
        known
        | {
            "id": ground_id,
            "heading": _line(form, f"heading:{ground_id}"),
            "text": _field_text(form, f"text:{ground_id}"),
            "asks": _line(form, f"asks:{ground_id}"),
            "ticked": f"ticked:{ground_id}" in form,
            "annex": place,
        }
    )


def _condition(form: FormData, number: int, base: Condition) -> Condition:
    if f"condition:{number}" not in form:
        return base
    return Condition(
        text=_field_text(form, f"condition:{number}"),
        ticked=f"condition-ticked:{number}" in form,
        annex=_PLACES.get(_line(form, f"condition-place:{number}"), False),
        rests_on=base.rests_on,
    )


def _is_empty(ground: Ground) -> bool:
    """Return whether it is a point of the writer's own in which nothing was written."""
    return ground.kind == "remark" and not (ground.text or ground.heading or ground.asks)


def _free_id(taken: Iterable[str]) -> str:
    known = set(taken)
    return next(name for number in range(1, 1_000) if (name := f"{_OWN}-{number}") not in known)


def _unless_usual(form: FormData, name: str) -> str:
    """Return a paragraph, or nothing if it is the usual one: that then follows the stance and the sender."""
    given = _field_text(form, name)
    return "" if given == _field_text(form, f"usual_{name}") else given


def _field_text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else ""


def _line(form: FormData, name: str) -> str:
    return " ".join(_field_text(form, name).split())
