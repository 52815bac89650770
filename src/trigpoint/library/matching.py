"""Matches a file to a work of the references: with certainty, with doubts, or not at all.

Two works can have nearly the same title and be different books: another year, volume, edition, a draft and the adopted text,
another author. So likeness of titles alone decides nothing. A match is certain only if an identifier of the file agrees, or if
the whole title is there, its author is named, and nothing that distinguishes near-identical works contradicts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from trigpoint.errors import shorten
from trigpoint.library.citations import Work, plain_doi
from trigpoint.library.title_words import (
    FILLERS,
    designation,
    designations,
    numbers_in,
    telling_words,
    words_of,
)

_SURE = 0.85
_DOUBTFUL = 0.55
_CLOSE = 0.1  # a rival this near makes a match doubtful
_LIKE_ENOUGH = 0.6
_OPENING = 4_000
_FRONT = 600  # characters in which a file says what it is

Likeness = Literal["identifier", "title"]

_YEAR = re.compile(r"(?<![0-9])(1[6-9][0-9]{2}|20[0-9]{2})(?![0-9])")
_DOI = re.compile(r"\b10\.[0-9]{4,9}/[^\s\"<>]+", re.ASCII)
_DOI_ALONE = re.compile(r"\W*(?:doi|https?://(?:dx\.)?doi\.org/)?\W*10\.[0-9]{4,9}/\S+\s*", re.IGNORECASE | re.ASCII)
_ARXIV = re.compile(r"\barxiv:\s*([0-9]{4}\.[0-9]{4,5})", re.IGNORECASE | re.ASCII)
_ISBN = re.compile(r"\bISBN(?:-1[03])?:?\s*([0-9][0-9 -]{8,16}[0-9Xx])", re.IGNORECASE | re.ASCII)

_STAGES: dict[str, str] = {
    "draft": "draft", "consultation": "draft", "preliminary": "draft", "proposed": "draft", "emerging": "draft",
    "submission": "submission", "publication": "submission", "modifications": "modifications", "preprint": "preprint",
    "revised": "revised", "update": "revised", "updated": "revised", "review": "revised", "interim": "interim",
}  # fmt: skip
_FINAL = frozenset("adopted final approved made".split())
_PARTS: dict[str, str] = {
    "appendix": "appendix", "appendices": "appendix", "annex": "appendix", "summary": "summary", "erratum": "erratum",
    "corrigendum": "erratum", "supplement": "supplement", "addendum": "supplement", "reply": "reply",
    "response": "reply", "comment": "reply", "comments": "reply", "abstract": "summary", "slides": "slides",
    "thesis": "thesis", "dissertation": "thesis",
}  # fmt: skip
_COMMON_IN_NAMES = frozenset(
    """agency assembly association authority board body borough centre city college commission committee community company
    consultants consulting council county department district government group institute institution international limited
    llp ltd ministry national office organisation organization parish partnership press service services society team
    town trust unit university""".split()
)


@dataclass(frozen=True)
class FileEvidence:
    """The evidence that a file gives of itself: its title and metadata, the beginning of its text, its name."""

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
    def has_doi_of_its_own(self) -> bool:
        """Whether a DOI is stated as the file's: in its metadata, or on a line by itself. One in a sentence may be cited."""
        return bool(self.doi) or any(_DOI_ALONE.fullmatch(line) for line in self.opening[:_OPENING].splitlines())

    @cached_property
    def isbns(self) -> frozenset[str]:
        return frozenset(isbn for found in _ISBN.findall(self.opening) if (isbn := plain_isbn(found)))

    @cached_property
    def arxiv(self) -> frozenset[str]:
        return frozenset(_ARXIV.findall(self.opening[:_OPENING]))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Possible titles of the file: its metadata's title, its first lines alone and joined, its name."""
        lines = [line.strip(" \t#*_") for line in self.opening[:2_000].splitlines()]
        lines = [line for line in lines if len(line) > 3][:12]
        joined = [" ".join(lines[i : i + n]) for n in (2, 3, 4) for i in range(max(0, min(5, len(lines) - n + 1)))]
        stem = re.sub(r"\.[A-Za-z]{2,5}$", "", self.name).replace("_", " ").replace("-", " ").replace("+", " ")
        return tuple(dict.fromkeys(title for title in (self.title or "", *lines, *joined, stem) if title))

    @cached_property
    def front(self) -> str:
        return f"{self.title or ''}\n{self.name}\n{self.opening[:_FRONT]}"

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words_of(f"{self.title or ''} {self.author or ''} {self.name} {self.opening[:_OPENING]}"))


@dataclass(frozen=True)
class WorkMatch:
    """A work, how sure it is that the file is that work, and why; `rivals` are works that are nearly as likely.

    `strength` compares works for one file, and has no upper limit.
    """

    work: Work
    confidence: float
    by: Likeness
    strength: float
    reasons: tuple[str, ...] = ()
    rivals: tuple[Work, ...] = field(default=())

    @property
    def is_sure(self) -> bool:
        return self.confidence >= _SURE


_Doubt = tuple[float, str]  # what it takes from the confidence, and the reason in words


def match_work(evidence: FileEvidence, works: Sequence[Work]) -> WorkMatch | None:
    """Return the work that the file most likely is; None if nothing is likely enough to be mentioned."""
    found = [match for work in works if (match := _judge_work(evidence, work)) is not None]
    found.sort(key=lambda match: (-match.strength, match.work.citekey or ""))
    if not found:
        return None
    best, *others = found
    rivals = tuple(other.work for other in others if other.strength > best.strength - _CLOSE)
    if not rivals or (best.by == "identifier" and all(other.by != "identifier" for other in others[: len(rivals)])):
        return best
    names = ", ".join(rival.citekey or rival.title for rival in rivals[:3])
    reasons = (*best.reasons, f"it could just as well be {names}")
    return replace(best, confidence=min(best.confidence, _SURE - 0.05), reasons=reasons, rivals=rivals)


def _judge_work(evidence: FileEvidence, work: Work) -> WorkMatch | None:
    likeness, title = _best_title(evidence, work)
    agreed = _agreeing_identifier(evidence, work)
    if agreed is not None:
        doubts = [] if likeness < _LIKE_ENOUGH else list(_kind_doubts(evidence, title, work))
        if agreed == "DOI" and likeness < _LIKE_ENOUGH and not evidence.has_doi_of_its_own:
            doubts.append((0.35, "it mentions the DOI of the reference, and has another title"))
        return _match_if_likely(work, 1.5, "identifier", doubts)
    if likeness < _LIKE_ENOUGH:
        return None
    doubts = list(_doubts(evidence, title, work))
    if likeness < _SURE:
        doubts.append((0.11, f"its title is not the same: {shorten(title, 100)}"))
    return _match_if_likely(work, likeness + _support(evidence, work), "title", doubts)


def _match_if_likely(work: Work, strength: float, by: Likeness, doubts: list[_Doubt]) -> WorkMatch | None:
    """Return the match, if it is likely enough. Any real doubt keeps it from being certain."""
    left = round(strength - sum(weight for weight, _ in doubts), 3)
    if left < _DOUBTFUL:
        return None
    most = _SURE - 0.05 if any(weight > 0.05 for weight, _ in doubts) else 1.0
    return WorkMatch(work, min(left, most), by, left, tuple(reason for _, reason in doubts))


def _agreeing_identifier(evidence: FileEvidence, work: Work) -> str | None:
    if work.doi and evidence.dois == {work.doi}:
        return "DOI"
    if isbns_of(work) & evidence.isbns:
        return "ISBN"
    return "arXiv id" if _arxiv_of(work) & evidence.arxiv else None


def _arxiv_of(work: Work) -> set[str]:
    doi = str(work.doi or "").replace("10.48550/arxiv.", "arxiv:")
    url = str(work.url or "").replace("arxiv.org/abs/", "arxiv:")
    number = re.sub("^arxiv:", "", str(work.csl.get("number") or ""), flags=re.IGNORECASE)
    return set(_ARXIV.findall(f"{doi} {url} arxiv:{number}"))


def _best_title(evidence: FileEvidence, work: Work) -> tuple[float, str]:
    """Return how like the work's title the most similar title of the file is, and that title."""
    wanted = telling_words(work.title)
    scored = [(_likeness(wanted, telling_words(title)), title) for title in evidence.titles]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
    main, subtitle = _parts_of(work.title)
    if best[0] >= _SURE or len(main) < 2 or not subtitle:
        return best
    # a file often has its main title on one line and the subtitle elsewhere, or not at all
    short = max(((_likeness(main, telling_words(title)), title) for title in evidence.titles), key=lambda pair: pair[0])
    has_subtitle = len(set(subtitle) & evidence.words) >= 2 * len(set(subtitle)) / 3
    reduced = (short[0] - (0.05 if has_subtitle else 0.2), short[1])
    return max(best, reduced, key=lambda pair: pair[0])


def _parts_of(title: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    main, _, subtitle = (re.sub(r"\s*[:–—?]\s+", "\0", title, count=1)).partition("\0")
    return telling_words(main), telling_words(subtitle)


def _likeness(wanted: tuple[str, ...], given: tuple[str, ...]) -> float:
    """Return 1 for the same words in the same order; a word that another takes the place of counts most."""
    if not wanted or not given:
        return 0.0
    one, other = set(wanted), set(given)
    missing, extra = len(one - other) / len(one), len(other - one) / len(other)
    replaced = 0.15 if missing and extra else 0.0
    reordered = 0.2 if one <= other and not _in_order(wanted, given) else 0.0
    return 1.0 - 0.9 * missing - 0.35 * extra - replaced - reordered


def _in_order(wanted: tuple[str, ...], given: tuple[str, ...]) -> bool:
    rest = iter(given)
    return all(word in rest for word in wanted)


def _support(evidence: FileEvidence, work: Work) -> float:
    """Return how much the file supports this work rather than a near-identical one: its year, its volume or edition, all of its authors."""
    said = designations(evidence.front)
    agreeing = sum(said.get(name) == value for name, value in _stated_designations(work).items())
    years = set(_YEAR.findall(f"{evidence.name} {evidence.opening[:_OPENING]}"))
    people = [set(names) for names in _author_words(work)]
    named = people and all(names & evidence.words for names in people)
    givens = {word for given in _given_names(work) for word in words_of(given) if len(word) > 2}
    return (
        0.1 * (str(work.year) in years)
        + 0.15 * min(agreeing, 2)
        + 0.05 * bool(named)
        + 0.05 * bool(givens & evidence.words)
    )


def _doubts(evidence: FileEvidence, title: str, work: Work) -> Iterator[_Doubt]:
    """Yield the reasons against a match although the titles are alike, each with its weight."""
    yield from _number_doubts(title, evidence, work)
    yield from _year_doubts(evidence, title, work)
    yield from _kind_doubts(evidence, title, work)
    yield from _author_doubts(evidence, work)
    if len(telling_words(work.title)) < 2:
        yield 0.15, "a title of one word is found in many files"


def _number_doubts(title: str, evidence: FileEvidence, work: Work) -> Iterator[_Doubt]:
    """Yield doubts if volume, part, edition and other numbers do not agree, years aside."""
    said, stated = designations(f"{title}\n{evidence.front}"), _stated_designations(work)
    differing = [name for name, value in stated.items() if said.get(name, value) != value]
    for name in differing:
        yield 0.3, f"it is {name} {said[name]}, the reference is {name} {stated[name]}"
    yield from _unsaid_doubts(evidence, work, {**designations(evidence.opening[:_OPENING]), **said})
    unknown = sorted(name for name in designations(title) if name not in stated)
    if unknown:
        yield 0.3, f"its title has {unknown[0]} {designations(title)[unknown[0]]}, which the reference lacks"
    if differing or unknown:
        return
    given = {number for number in numbers_in(title) if not _YEAR.fullmatch(number)}
    wanted = {number for number in numbers_in(work.title) if not _YEAR.fullmatch(number)}
    fields = {str(work.csl.get(name)) for name in ("volume", "edition", "number", "issue") if work.csl.get(name)}
    known = wanted | {number for text in fields for number in numbers_in(text)} | set(stated.values())
    if wanted - given:
        yield 0.3, f"its title lacks the number {', '.join(sorted(wanted - given))}"
    elif given - known:
        yield 0.3, f"its title has the number {', '.join(sorted(given - known))}, which the reference lacks"


def _unsaid_doubts(evidence: FileEvidence, work: Work, said: dict[str, str]) -> Iterator[_Doubt]:
    """Yield a doubt for a volume that the file does not state, or an edition that neither its words nor year tell."""
    stated = _stated_designations(work)
    if "volume" in stated and "volume" not in said:
        yield 0.08, f"the reference is volume {stated['volume']}, the file does not say so"
    later = stated.get("edition", "1") != "1"
    if later and "edition" not in said and str(work.year) not in evidence.words:
        yield 0.08, f"the reference is edition {stated['edition']}, the file does not say so"


def _stated_designations(work: Work) -> dict[str, str]:
    """Return volume, edition and the like as the title and the fields of the work state them. A journal's volume does not count."""
    stated = designations(work.title)
    fields = ("edition",) if "container-title" in work.csl else ("volume", "edition")
    for name in fields:
        if work.csl.get(name) and (value := designation(work.csl[name])):
            stated.setdefault(name, value)
    return stated


def _year_doubts(evidence: FileEvidence, title: str, work: Work) -> Iterator[_Doubt]:
    in_work, in_title = set(_YEAR.findall(work.title)), set(_YEAR.findall(title))
    years = {int(year) for year in _YEAR.findall(f"{evidence.name} {evidence.opening[:_OPENING]}")}
    if in_work and not in_work <= (in_title or set(map(str, years))):
        of_file = ", ".join(sorted(in_title)) or "no year"
        yield 0.35, f"the reference is about {', '.join(sorted(in_work))}, the file about {of_file}"
    elif in_title - in_work and work.year is not None and str(work.year) not in in_title:
        yield 0.35, f"its title says {', '.join(sorted(in_title - in_work))}, the reference is of {work.year}"
    elif work.year is not None and years and not any(abs(work.year - year) <= 1 for year in years):
        named = ", ".join(map(str, sorted(years)))
        yield 0.2, f"the reference is of {work.year}, and the file's opening names only {named}"


def _kind_doubts(evidence: FileEvidence, title: str, work: Work) -> Iterator[_Doubt]:
    """Yield doubts about the kind: a draft is not the adopted text, an appendix is not the report."""
    kind = words_of(_stated_kind(work))
    for markers in (_STAGES, _PARTS):
        wanted = {markers[word] for word in kind if word in markers}
        given = {markers[word] for word in words_of(title) if word in markers}
        front = {markers[word] for word in words_of(evidence.front) if word in markers}
        said = _said_first(evidence, markers) - wanted
        if lacking := wanted - given - front:
            yield 0.3, f"the reference is a {' and '.join(sorted(lacking))}, the file does not say so"
        elif others := given - wanted:
            yield 0.3, f"its title says it is a {' and '.join(sorted(others))}, the reference does not"
        elif said:
            yield 0.3, f"the file calls itself a {' and '.join(sorted(said))}, the reference does not"
    if evidence.arxiv and not _arxiv_of(work):
        yield 0.3, "the file is a preprint of arXiv, the reference is not"


def _said_first(evidence: FileEvidence, markers: dict[str, str]) -> set[str]:
    """Return what the first lines say of the file's stage or kind; parts may be mentioned there without being meant."""
    words = words_of(evidence.opening[:200])
    if markers is _PARTS:
        return {"thesis"} & {markers[word] for word in words if word in markers}
    return set() if _FINAL & set(words) else {markers[word] for word in words if word in markers}


def _stated_kind(work: Work) -> str:
    names = ("title", "version", "status", "note", "genre", "type")
    return " ".join(str(work.csl.get(name) or "") for name in names)


def _author_doubts(evidence: FileEvidence, work: Work) -> Iterator[_Doubt]:
    people = _author_words(work)
    if not people:
        yield 0.05, "the reference names no author"
    elif not any(names & evidence.words for names in people):
        given = f": its author is given as {evidence.author.strip()}" if evidence.author else ""
        yield 0.35 if given else 0.2, f"the opening does not name the author of the reference{given}"


def _author_words(work: Work) -> list[frozenset[str]]:
    """Return the telling words of each author's or editor's name: family names, what is not common in an organisation's."""
    people = [one for role in ("author", "editor") for one in work.csl.get(role) or () if isinstance(one, dict)]
    names = [words_of(str(one.get("family") or one.get("literal") or "")) for one in people]
    telling = [[word for word in name if len(word) > 2 and word not in FILLERS] for name in names]
    return [frozenset([w for w in name if w not in _COMMON_IN_NAMES] or name) for name in telling if name]


def _given_names(work: Work) -> list[str]:
    return [str(one.get("given") or "") for one in work.csl.get("author") or () if isinstance(one, dict)]


def isbns_of(work: Work) -> set[str]:
    parts = re.split(r"[,;]| (?=97[89])", str(work.csl.get("ISBN") or ""))
    return {plain for part in parts if (plain := plain_isbn(part))}


def plain_isbn(text: str) -> str | None:
    """Return an ISBN as thirteen digits, so that its two forms agree; None if it is not an ISBN."""
    digits = re.sub(r"[^0-9Xx]", "", text).upper()
    if len(digits) == 10 and digits[:9].isdigit():
        body = f"978{digits[:9]}"
        check = (10 - sum(int(d) * (1, 3)[i % 2] for i, d in enumerate(body)) % 10) % 10
        return f"{body}{check}"
    return digits if len(digits) == 13 and digits.isdigit() else None
