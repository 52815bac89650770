"""The profile of a development: uses with sizes, kind of application, scale, site and authority, with their sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from trigpoint.land_uses import Use
from trigpoint.reading.cues import CUES
from trigpoint.reading.documents import Document, Frozen, Source
from trigpoint.reading.kinds import Kind, kind_in, read_kind
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measured, is_addendum
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.sizes import stated_sizes
from trigpoint.reading.statements import Statement, document_statements
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.uses import read_uses

Scale = Literal["householder", "minor", "major", "unknown"]

_MAJOR_DWELLINGS = 10
_MAJOR_FLOORSPACE = 1_000  # m2
_MAJOR_SITE = 1.0  # ha
_RIGHT_AFTER = 25  # characters between a verb and its object
_SUBJECT = 12  # tokens in which a sentence names its subject
_FIRST_STATEMENTS = 120  # of a document, among which it describes the development


class Application(Frozen):
    """The register's entry for an application, as far as the reading needs it."""

    reference: str = ""
    proposal: str = ""
    address: str = ""
    application_type: str = ""
    authority: str = ""


class UseSize(Frozen):
    """One use of the development with one measure of it. `bedrooms` is set for homes counted by bedrooms."""

    use: Use
    size: float | None = None
    unit: str = ""
    bedrooms: int | None = None
    words: str = ""
    source: Source | None = None


class Disagreement(Frozen):
    """One measure of the development for which two places of the documents give different figures."""

    what: str
    sizes: tuple[UseSize, ...]


class Profile(Frozen):
    """The development as far as the register and the documents tell it. A None source is the register's entry."""

    application: str = ""
    proposal: str = ""
    authority: str = ""
    site: str = ""
    kind: Kind = "unknown"
    scale: Scale = "unknown"
    uses: tuple[UseSize, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    kind_source: Source | None = None

    def has(self, use: Use) -> bool:
        """Return whether a use is part of the development."""
        return any(one.use == use for one in self.uses)

    @property
    def dwellings(self) -> float | None:
        """The number of homes, if it is known."""
        return next(
            (one.size for one in self.uses if one.use == "dwellings" and one.bedrooms is None and one.size), None
        )


def read_profile(application: Application, documents: Sequence[Document]) -> Profile:
    """Return what is being built, from the register's proposal and the documents."""
    described = tuple(_descriptions(documents))
    strongest = sorted(described, key=lambda pair: not _names_the_proposal(pair[0]))
    first = next(((one.text, source) for one, source in strongest if any(read_uses(one.text))), ("", None))
    proposal, origin = (application.proposal, None) if application.proposal else first
    uses = tuple(_sizes(proposal, origin))
    stated = tuple(one for statement, source in described for one in _sizes(statement.text, source))
    named = tuple(one for pair in described if _names_the_proposal(pair[0]) for one in _sizes(pair[0].text, pair[1]))
    mix = tuple(_bedroom_mix(documents))
    kind, kind_source = read_kind(application.application_type, application.reference, proposal, described)
    if (
        kind == "full"
        and kind_in(proposal) == "householder"
        and not any(one.size for one in uses)
        and _homes_only(uses)
    ):
        kind = "householder"  # many registers call an extension of a house a full application
    sizes = tuple(stated_sizes(documents))
    all_uses = _distinct((*_revised(uses, sizes), *stated, *_stated_sizes(sizes), *mix))
    if kind == "householder" and not all_uses:
        all_uses = (UseSize(use="dwellings"),)
    all_uses = (*all_uses, *_jobs(all_uses, sizes))
    return Profile(
        application=application.reference,
        proposal=proposal,
        authority=application.authority,
        site=application.address or _site(documents),
        kind=kind,
        kind_source=kind_source,
        scale=_scale(kind, all_uses, _site_area(documents), proposal),
        uses=all_uses,
        disagreements=tuple(_disagreements((*uses, *named))),
    )


def _stated_sizes(sizes: Sequence[Measured]) -> Iterator[UseSize]:
    """Yield the sizes of the whole development that sentences and tables state."""
    for one in sizes:
        what = one.key[-1]
        if what == "staff":
            continue
        use = _USE_OF.get(what) or next((use for use in get_args(Use) if use.replace("_", " ") == what), None)
        if use is not None:
            unit = _UNIT_OF.get(what, "m2")
            yield UseSize(use=use, size=one.quantity.value, unit=unit, words=one.said.text, source=one.said.source)


def _jobs(uses: Sequence[UseSize], sizes: Sequence[Measured]) -> Iterator[UseSize]:
    """Yield the number of staff, if there is only one use whose staff they can be."""
    places = {one.use for one in uses} - _GENERIC - {"dwellings"}
    staff = [one for one in sizes if one.key == ("people", "staff")]
    if len(places) == 1 and staff:
        said = staff[0].said
        yield UseSize(use=places.pop(), size=staff[0].quantity.value, unit="job", words=said.text, source=said.source)


def _revised(uses: Sequence[UseSize], sizes: Sequence[Measured]) -> Iterator[UseSize]:
    """Yield the sizes of the register's proposal, with the number of homes that an addendum changes it to."""
    homes = [one for one in sizes if one.key == ("homes",) and is_addendum(one.said.document)]
    for one in uses:
        if one.unit == "dwelling" and one.bedrooms is None and homes:
            yield one.model_copy(update={"size": homes[0].quantity.value, "source": homes[0].said.source})
        else:
            yield one


def _descriptions(documents: Iterable[Document]) -> Iterator[tuple[Statement, Source]]:
    """Yield the statements that describe the whole development, from the beginnings of the documents."""
    for document in documents:
        for statement in document_statements(document)[:_FIRST_STATEMENTS]:
            if statement.kind != "heading" and _describes(statement):
                yield statement, statement.source(document)


def _describes(statement: Statement) -> bool:
    """Return whether a statement says what the whole development is: "The application seeks permission for …"."""
    cues = CUES.tag_text(statement.text)
    if any(cue in cues for cue in _NOT_THE_WHOLE):
        return _is_labelled(statement)
    return _names_the_proposal(statement) or _scheme_delivers(statement, cues)


def _is_labelled(statement: Statement) -> bool:
    return "label" in _DESCRIBES.tag_text(statement.text)


def _names_the_proposal(statement: Statement) -> bool:
    return bool(_DESCRIBES.tag_text(statement.text))


def _scheme_delivers(statement: Statement, cues: Mapping[str, list[int]]) -> bool:
    """Return whether the scheme is the subject of a verb of provision and a floor area follows at once."""
    tokens = tokenise(statement.text)
    subject = min(cues.get("scheme", [_SUBJECT]))
    areas = [one.start for one in read_quantities(statement.text) if one.unit in _SIZES and not _is_part(one.of)]
    verbs = [tokens[position].end for position in cues.get("provides", ()) if subject < position]
    return subject < _SUBJECT and any(0 < area - verb <= _RIGHT_AFTER for area in areas for verb in verbs)


def _sizes(text: str, source: Source | None) -> Iterator[UseSize]:
    for use, quantity in read_uses(text):
        if quantity is None:
            yield UseSize(use=use, source=source)
        else:
            yield _use_size(use, quantity, source)


def _use_size(use: Use, quantity: Quantity, source: Source | None) -> UseSize:
    return UseSize(
        use=use,
        size=quantity.value,
        unit="bed" if quantity.unit in ("bedroom", "room") else quantity.unit,
        bedrooms=_bedrooms(quantity.of) if use == "dwellings" else None,
        words=quantity.of,
        source=source,
    )


def _bedrooms(words: str) -> int | None:
    joined = words.strip().lower().replace(" ", "-")
    return next(
        (count for count, said in _BEDROOMS.items() if joined.startswith(tuple(f"{one}bed" for one in said))), None
    )


def _bedroom_mix(documents: Iterable[Document]) -> Iterator[UseSize]:
    """Yield homes by bedrooms from table rows with one figure: "2-bed | 54"."""
    for document in documents:
        if document.source_kind != "applicant":
            continue
        for statement in document_statements(document):
            bedrooms = _bedrooms(statement.cells[0]) if statement.kind == "row" else None
            figures = [cell for cell in statement.cells[1:] if cell.replace(",", "").isdecimal()]
            if bedrooms is not None and len(figures) == 1 and len(statement.cells) <= 3:
                yield UseSize(
                    use="dwellings",
                    size=float(figures[0].replace(",", "")),
                    unit="dwelling",
                    bedrooms=bedrooms,
                    words=statement.cells[0],
                    source=statement.source(document),
                )


def _distinct(uses: Iterable[UseSize]) -> tuple[UseSize, ...]:
    """Return each use and measure once, a use without a size only if none has one.

    The first statement of a size counts; of floor areas the largest, as smaller ones are parts of it.
    """
    kept: dict[tuple[object, ...], UseSize] = {}
    for one in uses:
        if one.size == 0:
            continue
        key = (one.use, one.unit, one.bedrooms)
        if key not in kept or (one.unit == "m2" and (one.size or 0) > (kept[key].size or 0)):
            kept[key] = one
    sized = {one.use for one in kept.values() if one.size is not None}
    return tuple(one for one in kept.values() if one.size is not None or one.use not in sized)


def _disagreements(sizes: Iterable[UseSize]) -> Iterator[Disagreement]:
    """Yield the totals for which the descriptions of the whole development differ."""
    by_measure: dict[tuple[str, str], list[UseSize]] = {}
    for one in sizes:
        if one.size is not None and one.bedrooms is None and not _is_part(one.words):
            by_measure.setdefault((one.use, one.unit), []).append(one)
    for (use, unit), stated in by_measure.items():
        firsts = list({one.size: one for one in reversed(stated)}.values())[::-1]
        if len(firsts) > 1 and use == "dwellings":
            yield Disagreement(what=f"{use} ({unit})", sizes=tuple(firsts))


def _is_part(words: str) -> bool:
    return bool(set(words.replace("-", " ").split()) & _PARTS)


def _site_area(documents: Iterable[Document]) -> float:
    """Return the area of the site in hectares as the documents' first pages state it, 0 if they do not."""
    for document in documents:
        for statement in document_statements(document)[:_FIRST_STATEMENTS] if document.source_kind != "public" else ():
            areas = [one.value for one in read_quantities(statement.text) if one.unit == "ha" and one.per is None]
            if len(areas) == 1 and _SITE_IS.search(statement.text):
                return areas[0]
    return 0.0


def _homes_only(uses: Iterable[UseSize]) -> bool:
    return all(one.use == "dwellings" for one in uses)


def scale_of(kind: Kind, uses: Sequence[UseSize], proposal: str) -> Scale:
    """Return the scale that the sizes of a development give it, whatever the area of its site."""
    return _scale(kind, uses, 0.0, proposal)


def _scale(kind: Kind, uses: Sequence[UseSize], hectares: float, proposal: str = "") -> Scale:
    """Return the scale by the statutory thresholds: 10 homes, 1,000 m2 of floorspace or a site of 1 ha are major."""
    if kind == "householder":
        return "householder"
    homes = max((one.size or 0 for one in uses if one.use == "dwellings" and one.unit == "dwelling"), default=0)
    floorspace = sum(one.size or 0 for one in uses if one.unit == "m2")
    built_without_homes = hectares >= _MAJOR_SITE and bool(uses) and not homes
    if homes >= _MAJOR_DWELLINGS or floorspace >= _MAJOR_FLOORSPACE or built_without_homes:
        return "major"
    one_home = bool(uses) and _homes_only(uses) and bool(_ONE_HOME.search(proposal)) and not _HOMES.search(proposal)
    return "minor" if homes or floorspace or one_home else "unknown"


def _site(documents: Iterable[Document]) -> str:
    for document in documents:
        for statement in document_statements(document)[:_FIRST_STATEMENTS]:
            label, _, rest = statement.text.partition(":")
            if label.strip().lower() in _SITE_LABELS and rest.strip():
                return rest.strip()
    return ""


_DESCRIBES = Lexicon(
    {
        "label": "proposal_: description_of_development_: proposed_development_: development_: "
        "request_for_scoping request_fo_scoping",
        "seeks": "application_seeks application_for_up_to seeks_planning_permission seeks_outline_planning "
        "seeks_full_planning outline_application_for full_application_for planning_application_for "
        "proposed_development_comprises proposed_development_is_for permission_is_sought "
        "full_planning_permission_for outline_planning_permission_for development_proposes "
        "erection_of residential_development_of proposed_development_of proposal_comprises scheme_comprises "
        "development_comprises development_will_comprise development_would_comprise proposed_scheme_comprises "
        "proposals_comprise proposals_for_the_redevelopment redevelopment_of_the_site_to proposal_is_for",
    }
)
_SITE_IS = re.compile(r"\b[Ss]ite\b[^.;]{0,40}\b(?:extends to|covers|measures|comprises|is|area of)\b")
_HOME = "dwelling|dwellinghouse|dwelling house|house|bungalow|cottage|annexe?|home"
_SEVERAL_HOMES = "dwellings|dwellinghouses|houses|bungalows|cottages|annexes|homes|flats|apartments|units"
_ONE_HOME = re.compile(rf"\b(?:{_HOME})\b", re.IGNORECASE)
_HOMES = re.compile(rf"\b(?:{_SEVERAL_HOMES})\b", re.IGNORECASE)
_USE_OF: dict[str, Use] = {"homes": "dwellings", "pupils": "school"}
_UNIT_OF = {"homes": "dwelling", "pupils": "pupil"}
_GENERIC = frozenset(("commercial", "other"))
_BEDROOMS = {1: ("1-", "one-"), 2: ("2-", "two-"), 3: ("3-", "three-"), 4: ("4-", "four-"), 5: ("5-", "five-")}
_NOT_THE_WHOLE = ("earlier_scheme", "other_scheme", "permitted", "denial", "policy", "phased", "indicative")
_SIZES = frozenset(("m2", "dwelling"))
_PARTS = frozenset(
    "affordable market rented shared existing additional social private larger family self custom bed".split()
)
_SITE_LABELS = frozenset(("site", "location", "site address", "address", "site location"))
