"""Which work of the references a file is: surely, doubtfully, or none of them.

Two works can have nearly the same title and be different books: another year, volume, edition, a draft and the adopted text,
another author. So likeness of titles alone decides nothing. A match is sure only if an identifier agrees, or if the
whole title is there and nothing that tells near-twins apart speaks against it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

from trigpoint.library.citations import Work, plain_doi

SURE = 0.85
DOUBTFUL = 0.55
_CLOSE = 0.1  # a rival this near makes a match doubtful
_LIKE_ENOUGH = 0.6
_OPENING = 4_000

Likeness = Literal["identifier", "title"]

_YEAR = re.compile(r"(?<![0-9])(1[6-9][0-9]{2}|20[0-9]{2})(?![0-9])")
_DOI = re.compile(r"\b10\.[0-9]{4,9}/[^\s\"<>]+", re.ASCII)
_ARXIV = re.compile(r"\barxiv:\s*([0-9]{4}\.[0-9]{4,5})", re.IGNORECASE | re.ASCII)
_ISBN = re.compile(r"\bISBN(?:-1[03])?:?\s*([0-9][0-9 -]{8,16}[0-9Xx])", re.IGNORECASE | re.ASCII)
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_NUMBER_WORDS = {
    **dict(zip("one two three four five six seven eight nine ten".split(), map(str, range(1, 11)), strict=True)),
    **dict(zip("first second third fourth fifth sixth seventh eighth ninth tenth".split(), map(str, range(1, 11)), strict=True)),
}  # fmt: skip
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th)", re.ASCII)
_FILLERS = frozenset("a an and at by for from in of on or the to with its".split())

_STAGES: dict[str, str] = {
    "draft": "draft", "consultation": "draft", "preliminary": "draft", "proposed": "draft", "emerging": "draft",
    "submission": "submission", "submitted": "submission", "publication": "submission", "modifications": "modifications",
    "adopted": "final", "final": "final", "approved": "final", "made": "final",
    "revised": "revised", "update": "revised", "updated": "revised", "review": "revised", "interim": "interim",
}  # fmt: skip
_PARTS: dict[str, str] = {
    "appendix": "appendix", "appendices": "appendix", "annex": "appendix", "summary": "summary", "erratum": "erratum",
    "corrigendum": "erratum", "supplement": "supplement", "supplementary": "supplement", "addendum": "supplement",
    "reply": "reply", "response": "reply", "comment": "reply", "abstract": "summary", "slides": "slides",
}  # fmt: skip


@dataclass(frozen=True)
class FileEvidence:
    """What a file says about itself: its own title and metadata, the beginning of its text, its name."""

    name: str
    title: str | None = None
    opening: str = ""
    doi: str | None = None
    author: str | None = None

    @cached_property
    def dois(self) -> frozenset[str]:
        """The DOIs of the file itself: its metadata, else those of the opening. A list of references comes later."""
        if self.doi:
            return frozenset({plain_doi(self.doi)})
        return frozenset(plain_doi(found.rstrip(".,;)]")) for found in _DOI.findall(self.opening[:_OPENING]))

    @cached_property
    def isbns(self) -> frozenset[str]:
        return frozenset(isbn for found in _ISBN.findall(self.opening) if (isbn := plain_isbn(found)))

    @cached_property
    def arxiv(self) -> frozenset[str]:
        return frozenset(_ARXIV.findall(self.opening[:_OPENING]))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What the file may be called: its metadata's title, its first lines alone and joined, its name."""
        lines = [line.strip(" \t#*_") for line in self.opening[:2_000].splitlines()]
        lines = [line for line in lines if len(line) > 3][:8]
        joined = [" ".join(lines[i : i + n]) for n in (2, 3) for i in range(max(0, min(4, len(lines) - n + 1)))]
        stem = re.sub(r"\.[A-Za-z]{2,5}$", "", self.name).replace("_", " ").replace("-", " ").replace("+", " ")
        return tuple(dict.fromkeys(title for title in (self.title or "", *lines, *joined, stem) if title))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_words(f"{self.title or ''} {self.author or ''} {self.name} {self.opening[:_OPENING]}"))


@dataclass(frozen=True)
class Match:
    """A work, how sure it is that the file is that work, and why; `rivals` are works that are nearly as likely."""

    work: Work
    confidence: float
    by: Likeness
    reasons: tuple[str, ...] = ()
    rivals: tuple[Work, ...] = field(default=())

    @property
    def is_sure(self) -> bool:
        return self.confidence >= SURE


def match_work(evidence: FileEvidence, works: Sequence[Work]) -> Match | None:
    """Return the work that the file most likely is; None if nothing is likely enough to be mentioned."""
    found = [match for work in works if (match := _judged(evidence, work)) is not None]
    found.sort(key=lambda match: (-match.confidence, match.work.citekey or ""))
    if not found:
        return None
    best, *others = found
    rivals = tuple(other.work for other in others if other.confidence > best.confidence - _CLOSE)
    if not rivals or (best.by == "identifier" and all(other.by != "identifier" for other in others[: len(rivals)])):
        return best
    names = ", ".join(rival.citekey or rival.title for rival in rivals[:3])
    reasons = (*best.reasons, f"it could as well be {names}")
    return Match(best.work, min(best.confidence, SURE - 0.05), best.by, reasons, rivals)


def _judged(evidence: FileEvidence, work: Work) -> Match | None:
    agreed = _agreeing_identifier(evidence, work)
    if agreed is not None:
        return Match(work, 1.0, "identifier", (f"its {agreed} is the same",))
    likeness = _title_likeness(evidence, work)
    if likeness < _LIKE_ENOUGH:
        return None
    confidence, reasons = likeness, list[str]()
    for penalty, reason in _doubts(evidence, work):
        confidence -= penalty
        reasons.append(reason)
    return Match(work, round(max(confidence, 0.0), 3), "title", tuple(reasons)) if confidence >= DOUBTFUL else None


def _agreeing_identifier(evidence: FileEvidence, work: Work) -> str | None:
    if work.doi and evidence.dois == {work.doi}:
        return "DOI"
    isbns = {
        plain for part in re.split(r"[,;]| (?=97[89])", str(work.csl.get("ISBN") or "")) if (plain := plain_isbn(part))
    }
    if isbns & evidence.isbns:
        return "ISBN"
    arxiv = _ARXIV.search(f"arxiv:{work.csl.get('number') or ''}") or _ARXIV.search(
        str(work.doi or "").replace("10.48550/arxiv.", "arxiv:")
    )
    return "arXiv id" if arxiv and arxiv[1] in evidence.arxiv else None


def _title_likeness(evidence: FileEvidence, work: Work) -> float:
    """Return how much of the work's title a title of the file has, and the other way round; order and fillers aside."""
    wanted = _content(work.title)
    main = _content(re.split(r"[:–—?]", work.title)[0])
    best = 0.0
    for title in evidence.titles:
        given = _content(title)
        best = max(best, _overlap(wanted, given))
        if main != wanted and len(main) >= 3:  # a file often has the main title only
            best = max(best, _overlap(main, given) - 0.05)
    return best


def _overlap(wanted: tuple[str, ...], given: tuple[str, ...]) -> float:
    """Return 1 for the same words; words that only one side has count against it, more if they are the work's."""
    if not wanted or not given:
        return 0.0
    one, other = set(wanted), set(given)
    missing, extra = len(one - other) / len(one), len(other - one) / len(other)
    return 1.0 - 0.9 * missing - 0.35 * extra


def _doubts(evidence: FileEvidence, work: Work) -> list[tuple[float, str]]:
    """Return what speaks against a match although the titles are alike, each with its weight."""
    title = _best_title(evidence, work)
    return [
        *_number_doubts(title, work),
        *_year_doubts(evidence, title, work),
        *_marker_doubts(title, evidence, work),
        *_author_doubts(evidence, work),
        *_short_title_doubts(work),
    ]


def _best_title(evidence: FileEvidence, work: Work) -> str:
    wanted = _content(work.title)
    return max(evidence.titles, key=lambda title: _overlap(wanted, _content(title)), default="")


def _number_doubts(title: str, work: Work) -> list[tuple[float, str]]:
    """Volume, part and edition: numbers of the two titles must agree, years aside."""
    given = {number for number in _numbers(title) if not _is_year(number)}
    known = {str(work.csl.get(name)) for name in ("volume", "edition", "number", "issue") if work.csl.get(name)}
    wanted = {number for number in _numbers(work.title) if not _is_year(number)}
    stated = wanted | {number for text in known for number in _numbers(text)}
    if wanted - given:
        return [(0.3, f"its title lacks the number {', '.join(sorted(wanted - given))}")]
    if given - stated:
        return [(0.3, f"its title has the number {', '.join(sorted(given - stated))}, which the reference lacks")]
    return []


def _year_doubts(evidence: FileEvidence, title: str, work: Work) -> list[tuple[float, str]]:
    in_work = set(_YEAR.findall(work.title))
    in_title = set(_YEAR.findall(title))
    if in_work and not in_work <= (in_title or set(_YEAR.findall(evidence.opening[:_OPENING]))):
        return [
            (
                0.35,
                f"the reference is about {', '.join(sorted(in_work))}, the file about {', '.join(sorted(in_title)) or 'no year'}",
            )
        ]
    if in_title - in_work and work.year is not None and str(work.year) not in in_title:
        return [(0.35, f"its title says {', '.join(sorted(in_title - in_work))}, the reference is of {work.year}")]
    years = {int(year) for year in _YEAR.findall(f"{evidence.name} {evidence.opening[:_OPENING]}")}
    if work.year is not None and years and work.year not in years and not any(abs(work.year - y) <= 1 for y in years):
        return [
            (
                0.2,
                f"the reference is of {work.year}, and the file's opening names only {', '.join(map(str, sorted(years)))}",
            )
        ]
    return []


def _marker_doubts(title: str, evidence: FileEvidence, work: Work) -> list[tuple[float, str]]:
    """A draft is not the adopted text, and an appendix is not the report."""
    doubts: list[tuple[float, str]] = []
    front = f"{evidence.title or ''} {evidence.name} {evidence.opening[:600]}"
    for markers in (_STAGES, _PARTS):
        wanted = {markers[word] for word in _words(_stated_kind(work)) if word in markers}
        given = {markers[word] for word in _words(title) if word in markers}
        nearby = {markers[word] for word in _words(front) if word in markers}
        if wanted - given - nearby:
            doubts.append(
                (
                    0.3,
                    f"the reference is a {' and '.join(sorted(wanted - given - nearby))} version, the file does not say so",
                )
            )
        elif given - wanted:
            doubts.append(
                (0.3, f"its title says it is a {' and '.join(sorted(given - wanted))} version, the reference does not")
            )
        elif markers is _STAGES and (said := _stages(evidence.opening[:200]) - wanted):
            doubts.append(
                (0.3, f"the file calls itself a {' and '.join(sorted(said))} version, the reference does not")
            )
    return doubts


def _stages(text: str) -> set[str]:
    return {_STAGES[word] for word in _words(text) if word in _STAGES}


def _stated_kind(work: Work) -> str:
    parts = (work.title, work.csl.get("version"), work.csl.get("status"), work.csl.get("note"), work.csl.get("genre"))
    return " ".join(str(part) for part in parts if part)


def _author_doubts(evidence: FileEvidence, work: Work) -> list[tuple[float, str]]:
    families = _author_words(work)
    if not families:
        return [(0.05, "the reference names no author")]
    if families & evidence.words:
        return []
    if evidence.author and _words(evidence.author):
        return [(0.35, f"its author is given as {evidence.author.strip()}")]
    return [(0.12, "the opening does not name the author of the reference")]


def _author_words(work: Work) -> frozenset[str]:
    """Family names, and the telling words of corporate authors."""
    people = [one for role in ("author", "editor") for one in work.csl.get(role) or () if isinstance(one, dict)]
    names = " ".join(str(one.get("family") or one.get("literal") or "") for one in people)
    return frozenset(word for word in _words(names) if len(word) > 2 and word not in _FILLERS)


def _short_title_doubts(work: Work) -> list[tuple[float, str]]:
    return [(0.15, "a title of one word is found in many files")] if len(_content(work.title)) < 2 else []


def plain_isbn(text: str) -> str | None:
    """Return an ISBN as thirteen digits, so that both forms of one agree; None if it is none."""
    digits = re.sub(r"[^0-9Xx]", "", text).upper()
    if len(digits) == 10 and digits[:9].isdigit():
        body = f"978{digits[:9]}"
        check = (10 - sum(int(d) * (1, 3)[i % 2] for i, d in enumerate(body)) % 10) % 10
        return f"{body}{check}"
    return digits if len(digits) == 13 and digits.isdigit() else None


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKD", re.sub(r"<[^>]{1,20}>", "", text)).casefold()
    plain = "".join(c if c.isalnum() else " " for c in folded if not unicodedata.combining(c) and c not in "'’")
    return tuple(plain.split())


@lru_cache(maxsize=20_000)
def _content(title: str) -> tuple[str, ...]:
    """The telling words of a title: no fillers, numbers in one form."""
    return tuple(_number(word) or word for word in _words(title) if word not in _FILLERS)


def _numbers(title: str) -> set[str]:
    return {number for word in _words(title) if (number := _number(word))}


def _number(word: str) -> str | None:
    """Return a numeral as digits: `2`, `2nd`, `two`, `second`, `ii`."""
    if word.isdigit():
        return word.lstrip("0") or "0"
    if ordinal := _ORDINAL.fullmatch(word):
        return ordinal[1]
    return _NUMBER_WORDS.get(word) or _ROMAN.get(word)


def _is_year(number: str) -> bool:
    return bool(_YEAR.fullmatch(number))
