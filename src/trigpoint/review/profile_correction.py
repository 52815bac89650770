"""Correct what a development is: each figure must be in the words that are quoted for it, or in the proposal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from trigpoint.reading.documents import Source
from trigpoint.reading.profile import Profile, Scale, UseSize, scale_of
from trigpoint.reading.quantities import read_quantities
from trigpoint.review.checked import Checked
from trigpoint.review.evidence import Evidence
from trigpoint.review.locating import FoundWords
from trigpoint.review.stated import StatedNumbers
from trigpoint.review.submitted import ProfileCorrection, SizeCorrection, Verdict
from trigpoint.review.verify_drafts import DraftVerifier


def corrected_profile(
    given: ProfileCorrection, evidence: Evidence, verifier: DraftVerifier
) -> tuple[Profile | None, Verdict]:
    """Return the profile as corrected, and the verdict; no profile if nothing of the correction holds.

    Sizes are checked one by one: a wrong one is left out, and the others count.
    """
    checked = Checked()
    if given.quote is not None:
        verifier.quotes([given.quote], checked)
    if checked.lost:
        reasons = tuple(one.reason for one in checked.lost)
        return None, Verdict(id="profile", verdict="dropped", reasons=reasons)
    profile = evidence.profile
    sizes, wrong = _checked_sizes(given.sizes, evidence, verifier, checked)
    known = profile.uses if given.uses is None else _uses(profile, given.uses)
    struck = {(one.use, one.unit) for one in given.no_sizes}
    uses = _with_sizes(_without_sizes(known, struck, profile.proposal), sizes)
    changes_more = bool(struck) or any(one is not None for one in (given.kind, given.scale, given.uses))
    if wrong and not sizes and not changes_more:
        return None, Verdict(id="profile", verdict="dropped", reasons=tuple(wrong))
    kind = given.kind or profile.kind
    scale = given.scale or (_scale(profile, uses) if sizes or struck else profile.scale)
    changed = profile.model_copy(update={"kind": kind, "scale": scale, "uses": uses})
    return changed, Verdict(id="profile", verdict="verified", reasons=tuple(wrong), remarks=tuple(checked.remarks))


def _checked_sizes(
    given: Sequence[SizeCorrection], evidence: Evidence, verifier: DraftVerifier, checked: Checked
) -> tuple[list[UseSize], list[str]]:
    """Return the sizes whose figure is stated where they say, and what is wrong with the others."""
    sizes, wrong = [], []
    for one in given:
        own = Checked()
        places = verifier.quotes([one.quote], own) if one.quote is not None else []
        said = [place.words for place in places] or [evidence.profile.proposal]
        reasons = [lost.reason for lost in own.lost] or _size_reasons(one, said)
        checked.remarks.extend(own.remarks)
        if reasons:
            wrong += [f"{one.use.replace('_', ' ')}, {one.size:,.10g} {one.unit}: {reason}" for reason in reasons]
        else:
            sizes.append(UseSize(use=one.use, size=one.size, unit=one.unit, source=_source(places)))
    return sizes, wrong


def _size_reasons(given: SizeCorrection, said: Sequence[str]) -> list[str]:
    """Return what is wrong with a size: its figure is not stated, or an area is not one in square metres."""
    if given.size not in StatedNumbers(said).values:
        return ["the figure is not in the words you quote, nor in the proposal"]
    areas = [one.value for text in said for one in read_quantities(text) if one.unit == "m2"]
    return (
        ["the words you quote do not give it in square metres"]
        if given.unit == "m2" and given.size not in areas
        else []
    )


def _source(places: Sequence[FoundWords]) -> Source | None:
    if not places:
        return None
    place = places[0]
    return Source(
        document_id=place.document.id,
        document=place.document.name,
        page=place.pages[0] if place.pages else None,
        start=place.start,
        end=place.end,
        statement=0,
        quote=place.words,
    )


def _uses(profile: Profile, given: Iterable[str]) -> tuple[UseSize, ...]:
    """Return the uses as corrected; those that were known keep their sizes."""
    wanted = tuple(given)
    kept = tuple(one for one in profile.uses if one.use in wanted)
    known = {one.use for one in kept}
    return (*kept, *(UseSize.model_validate({"use": use}) for use in wanted if use not in known))


def _without_sizes(uses: Iterable[UseSize], struck: Set[tuple[str, str]], proposal: str) -> tuple[UseSize, ...]:
    """Return the uses without sizes that are none of the development's; those that the proposal states stay."""
    stated = StatedNumbers([proposal]).values
    left = [
        one.model_copy(update={"size": None, "unit": "", "words": "", "source": None})
        if (one.use, one.unit) in struck and one.size not in stated
        else one
        for one in uses
    ]
    sized = {one.use for one in left if one.size is not None}
    plain = [one for one in left if one.size is not None or one.use not in sized]
    return tuple(dict.fromkeys(plain))


def _with_sizes(uses: Iterable[UseSize], sizes: Sequence[UseSize]) -> tuple[UseSize, ...]:
    """Return the uses with corrected sizes in place of what was read of that use and unit."""
    replaced = {(one.use, one.unit) for one in sizes}
    sized = {one.use for one in sizes}
    kept = [one for one in uses if (one.use, one.unit) not in replaced and not (one.size is None and one.use in sized)]
    return (*sizes, *kept)


def _scale(profile: Profile, uses: Sequence[UseSize]) -> Scale:
    """Return the scale that follows from corrected sizes; one that followed from the site's area stays."""
    follows = scale_of(profile.kind, uses, profile.proposal)
    by_sizes = scale_of(profile.kind, profile.uses, profile.proposal) == profile.scale
    return follows if follows == "major" or (by_sizes and follows != "unknown") else profile.scale
