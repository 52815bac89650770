"""The passages of a revision that a reference means: `TR1`, `Section 9`, `Para 11(d)`, with all of the section.

Works on the references of a revision's passages in their order, so that it needs nothing but what every revision has.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trigpoint.text.sections import normalise_ref

NOTES = ("Table", "Figure", "Footnote")  # they interrupt a section, which then goes on
_PARENTS = ("Chapter", "Annex", "Appendix", "Section")
_SYNONYMS = {"section": ("chapter", "para"), "chapter": ("section",), "para": ("section",), "annex": ("appendix",)}
_SYNONYMS |= {"appendix": ("annex",)}
_MOST_NEAR = 5
_NEAR_NOTES = 40  # passages; the notes of a page come after all of its sections

_CODED = re.compile(r"([A-Za-z]{1,6})[ /-]?([0-9]{1,3}(?:[./-][0-9]{1,3})?[A-Za-z]?)")
_IN_BRACKETS = r"\(\s*{}\s*\)"
_FIRST_POINT = _IN_BRACKETS.format(r"(?P<point>[a-z]{1,4}|[0-9]{1,2})")
_FURTHER_POINTS = rf"(\s*{_IN_BRACKETS.format('[a-z0-9]{1,4}')})*"
_POINT = re.compile(rf"(?P<ref>.*[0-9A-Za-z])\s*[.,]?\s*{_FIRST_POINT}{_FURTHER_POINTS}", re.IGNORECASE)
_JOINED_POINT = re.compile(r"(?P<ref>.*[0-9])\s*(?P<point>[a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Match:
    """The section that a reference means. `passages` are the indexes of its text, `notes` those of its tables, figures
    and footnotes by reference, `children` the sections within it, `point` the letter of a point that was asked for."""

    section_ref: str
    passages: tuple[int, ...]
    notes: dict[str, tuple[int, ...]]
    children: tuple[str, ...] = ()
    point: str | None = None


def find_section(refs: Sequence[str], texts: Sequence[str], wanted: str) -> Match | None:
    """Return what the reference means among these passages, given their references and texts in order."""
    by_key: dict[str, str] = {}
    for ref in refs:
        by_key.setdefault(section_key(ref), ref)
    for written, point in _readings(wanted):
        key = next((key for key in _keys(written) if key in by_key), None)
        if key:
            return _match(refs, texts, by_key[key], point)
    return None


def nearest(refs: Sequence[str], wanted: str) -> list[str]:
    """Return the sections that the reference may have meant: near by number in its kind or family, or by spelling."""
    known = [ref for ref in dict.fromkeys(refs) if ref]
    written = normalise_ref(next(reversed(list(_readings(wanted))))[0])
    family, number = _family(written)
    alike = [(abs(_family(ref)[1] - number), ref) for ref in known if _family(ref)[0] == family]
    if not alike and " " not in family:
        alike = [(abs(_family(ref)[1] - number), ref) for ref in known if _family(ref)[0] == f"policy {family}"]
    if alike:
        chosen = {ref for _, ref in sorted(alike, key=lambda pair: pair[0])[:_MOST_NEAR]}
        return [ref for ref in known if ref in chosen]
    close = difflib.get_close_matches(written, known, n=_MOST_NEAR, cutoff=0.5)
    return [ref for ref in known if ref in close]


def overview(refs: Iterable[str]) -> str:
    """Return what a revision has, kind by kind: "Chapter 1 to 17, Para 1 to 242"."""
    kinds: dict[str, list[str]] = {}
    for ref in dict.fromkeys(refs):
        kind, _, number = ref.partition(" ")
        if number:
            kinds.setdefault(kind, []).append(number)
    shown = [f"{kind} {numbers[0]}" + (f" to {numbers[-1]}" if numbers[1:] else "") for kind, numbers in kinds.items()]
    return ", ".join(shown)


def point_of(text: str, point: str) -> str | None:
    """Return the point of a list that begins with this letter or number; None if the text has no such list."""
    starts = re.compile(rf"^[ \t]*\(?{re.escape(point)}[).][ \t]*(?=\S|$)", re.MULTILINE | re.IGNORECASE)
    begin = starts.search(text)
    if begin is None:
        return None
    label = _following(point)
    after = re.compile(rf"^[ \t]*\(?{re.escape(label)}[).][ \t]", re.MULTILINE | re.IGNORECASE) if label else None
    end = after.search(text, begin.end()) if after else None
    return text[begin.start() : end.start() if end else len(text)].strip()


def _following(point: str) -> str | None:
    if point.isdigit():
        return str(int(point) + 1)
    return chr(ord(point.lower()) + 1) if len(point) == 1 and point.lower() < "z" else None


def _readings(wanted: str) -> Iterator[tuple[str, str | None]]:
    """Yield the reference as it is; without a title after it; and without a point of a list at its end."""
    text = " ".join(wanted.split())
    yield text, None
    plain = re.split(r":| [–—-] ", text, maxsplit=1)[0].strip()
    if plain and plain != text:
        yield plain, None
    for pattern in (_POINT, _JOINED_POINT):
        match = pattern.fullmatch(plain)
        if match:
            yield match["ref"].strip(), match["point"].lower()


def _keys(written: str) -> list[str]:
    """Return the references that may be meant: a bare number is a section or a paragraph, a bare code a policy.

    Documents also differ in what they call a chapter.
    """
    key = section_key(written)
    if not key:
        return []
    if key[0].isdigit():
        return [f"{kind}{key}" for kind in ("section", "para", "policy", "chapter")]
    kind, _, number = normalise_ref(written).partition(" ")
    others = _SYNONYMS.get(kind.lower(), ())
    if not others and _CODED.fullmatch(written):
        return [key, section_key(f"Policy {written}")]
    return [key, *(f"{other}{''.join(number.casefold().split())}" for other in others)]


def section_key(ref: str) -> str:
    """Return a reference for comparing: differences in case and spacing do not count."""
    return "".join(normalise_ref(ref).casefold().split())


def _match(refs: Sequence[str], texts: Sequence[str], ref: str, point: str | None) -> Match:
    first = refs.index(ref)
    if ref.startswith(_PARENTS):
        reach = range(first, _end(refs, ref, first))
        own = [i for i in reach if not refs[i].startswith(NOTES)]
        notes = [i for i in reach if refs[i].startswith(NOTES)]
        children = tuple(dict.fromkeys(refs[i] for i in own if refs[i] != ref))
        return Match(ref, tuple(own), _by_ref(refs, notes), children, point)
    own = [i for i, other in enumerate(refs) if other == ref]
    return Match(ref, tuple(own), _by_ref(refs, _notes_of(refs, texts, own)), (), point)


def _end(refs: Sequence[str], ref: str, first: int) -> int:
    """Return the index of the passage with which the next section of the same rank begins."""
    kind, _, number = ref.partition(" ")
    for index in range(first + 1, len(refs)):
        other, _, other_number = refs[index].partition(" ")
        if refs[index] == ref or other not in _PARENTS:
            continue
        if other == "Section" and (kind != "Section" or other_number.startswith(f"{number}.")):
            continue  # within it
        return index
    return len(refs)


def _notes_of(refs: Sequence[str], texts: Sequence[str], own: Sequence[int]) -> list[int]:
    """Return the tables and figures in a section or right after it, and the footnotes that its text refers to."""
    text = "\n".join(texts[i] for i in own)
    last = own[-1]
    while last + 1 < len(refs) and refs[last + 1].startswith(NOTES):
        last += 1
    found = [i for i in range(own[0], last + 1) if refs[i].startswith(("Table", "Figure"))]
    marks = set(re.findall(r"(?<=[^\W\d_]|[.,;:)’”'\"])([0-9]{1,3})(?![0-9]|[.,][0-9]|[a-zA-Z%])", text))
    notes = [i for i, ref in enumerate(refs) if ref.startswith("Footnote ") and ref.removeprefix("Footnote ") in marks]
    near = [i for i in notes if own[0] <= i <= own[-1] + _NEAR_NOTES]
    return sorted({*found, *near} - set(own))


def _by_ref(refs: Sequence[str], indexes: Iterable[int]) -> dict[str, tuple[int, ...]]:
    grouped: dict[str, tuple[int, ...]] = {}
    for index in indexes:
        grouped[refs[index]] = (*grouped.get(refs[index], ()), index)
    return grouped


def _family(ref: str) -> tuple[str, float]:
    """Return a reference's kind and family (`policy tr`), and its first number."""
    match = re.search(r"[0-9]+(\.[0-9]+)?", ref)
    stem = ref[: match.start()] if match else ref
    return " ".join(stem.casefold().split()), float(match[0]) if match else 0.0
