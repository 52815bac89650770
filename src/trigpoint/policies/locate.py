"""Finds the section of a policy text that states a provision: by its words, by its meaning, and by the revision before.

The text is cut into clauses (sentences and items of lists). A clause is compared with every phrasing of a provision;
a section is as good as its best clause, helped by how well it answers the other phrasings. Pure functions: what is
found depends on the arguments alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trigpoint.passages.lexical import passage_analyzer
from trigpoint.policies.compare import SectionText, likeness
from trigpoint.policies.provisions import Provision
from trigpoint.text.embed import Vector

VERSION = 2  # of the method: placements made by another one are made again

SURE = 0.55  # confidence from which a section is cited without "to be confirmed"
_CANDIDATES = 12  # clauses a phrasing whose meaning is compared, best words first
_WORDS_WEIGHT = 0.5  # of the words in a clause's score; the rest is the cosine
_SUPPORT = 0.4  # weight of the average over all phrasings against the best one
_SUMMARY = {"Chapter": 0.9, "Annex": 0.8, "Appendix": 0.8, "Footnote": 0.8}  # objectives, definitions, references
_SAME_WORDS = 0.15  # most that the words of the revision before add to a section's score
_ALIGNED = 0.1  # for the section that the revision before calls by another number
_ALIKE = 0.5  # likeness from which two sections are the same one
_CLEAR_LEAD = 0.12  # a lead over the second section that leaves no doubt
_SHORTEST = 12  # characters of a clause
_LONGEST = 900  # characters of a lead-in with its list

_ITEM = r"\(?(?:[a-z]|[ivx]{1,4}|[0-9]{1,2})[.)]\s"
_CLAUSE_END = re.compile(rf"\n\s*\n|;\s+|(?<=[.:?])\s+(?=[A-Z(])|\n\s*(?={_ITEM})")
_WORD = re.compile(r"[^\W_]+")
_EMPTY_WORDS = frozenset(
    "a an the of and or to in for on by with be is are as at that this it its from which where should must may not "
    "any such their they will other than".split()
)

Embed = Callable[[Sequence[str]], Iterable[Vector]]


@dataclass(frozen=True)
class Clause:
    section: SectionText
    text: str
    words: frozenset[str]


@dataclass(frozen=True)
class Earlier:
    """The section in which the revision before states a provision, and its words."""

    section: SectionText
    excerpt: str


@dataclass(frozen=True)
class Located:
    """The best section for a provision. `confidence` is between 0 and 1; `runner_up` is the second-best section."""

    provision_id: str
    section_ref: str | None
    confidence: float
    excerpt: str
    page: int | None
    runner_up: str | None

    @property
    def sure(self) -> bool:
        return self.confidence >= SURE


def locate(
    provisions: Sequence[Provision],
    sections: Sequence[SectionText],
    embed: Embed,
    earlier: Mapping[str, Earlier] | None = None,
) -> list[Located]:
    """Return for each provision the section that states it best, in the order of `provisions`. Slow: call it in a thread."""
    before = earlier or {}
    phrasings = [phrasing for provision in provisions for phrasing in _phrasings(provision)]
    text = _Text(sections, embed, [*phrasings, *(one.excerpt for one in before.values())])
    return [_best(provision, text, before.get(provision.id)) for provision in provisions]


class _Text:
    """A revision's clauses, compared with phrasings by words, and the nearest of them by meaning."""

    def __init__(self, sections: Sequence[SectionText], embed: Embed, phrasings: Sequence[str]) -> None:
        self.sections = sections
        self._analyze = passage_analyzer().analyze
        self.clauses = [
            Clause(section, text, self.words(text)) for section in sections for text in _split(section.text)
        ]
        self._nearest = {phrasing: self._by_words(phrasing) for phrasing in phrasings}
        near = (self.clauses[index].text for found in self._nearest.values() for index, _ in found)
        texts = list(dict.fromkeys((*phrasings, *near)))  # in one batch: it is most of the work
        self._vectors: dict[str, Vector] = dict(zip(texts, embed(texts), strict=True)) if texts else {}

    @cached_property
    def _uses(self) -> Counter[str]:
        return Counter(word for clause in self.clauses for word in clause.words)

    def words(self, text: str) -> frozenset[str]:
        return frozenset(self._analyze(text)) - _EMPTY_WORDS

    def rarity(self, word: str) -> float:
        return math.log(1 + len(self.clauses) / (1 + self._uses[word]))

    def scores(self, phrasing: str) -> dict[str, tuple[float, Clause]]:
        """Return the score and the best clause of each section that shares words with the phrasing."""
        query = self._vectors[phrasing]
        best: dict[str, tuple[float, Clause]] = {}
        for index, shared in self._nearest[phrasing]:
            clause = self.clauses[index]
            verbatim = _run_of_words(phrasing) in _run_of_words(clause.text)
            cosine = 1.0 if verbatim else float(np.dot(query, self._vectors[clause.text]))
            score = _WORDS_WEIGHT * shared + (1 - _WORDS_WEIGHT) * cosine
            if score > best.get(clause.section.ref, (0.0, None))[0]:
                best[clause.section.ref] = (score, clause)
        return best

    def _by_words(self, phrasing: str) -> list[tuple[int, float]]:
        """Return the clauses that share most of the phrasing's words, rare words counting more, with the share."""
        wanted = self.words(phrasing)
        rarity = {word: self.rarity(word) for word in wanted}
        total = sum(rarity.values()) or 1.0
        shared = [sum(rarity[w] for w in wanted & clause.words) / total for clause in self.clauses]
        return [(i, shared[i]) for i in sorted(range(len(shared)), key=lambda i: -shared[i])[:_CANDIDATES]]


def _run_of_words(text: str) -> str:
    """Return the words alone, so that a phrasing can be looked up within a longer clause."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _phrasings(provision: Provision) -> tuple[str, ...]:
    return (*provision.phrasings, provision.requires)


def _best(provision: Provision, text: _Text, earlier: Earlier | None) -> Located:
    by_phrasing = [text.scores(phrasing) for phrasing in _phrasings(provision)]
    own = _section_scores(by_phrasing)
    helped = _helped(own, text, earlier) if earlier else own
    ranked = sorted(helped.items(), key=lambda item: (-item[1], item[0]))
    if not ranked:
        return Located(provision.id, None, 0.0, "", None, None)
    (ref, score), *others = ranked
    _, clause = max((scores[ref] for scores in by_phrasing if ref in scores), key=lambda found: found[0])
    second = others[0] if others else (None, 0.0)
    confidence = _confidence(own[ref], score - second[1])
    return Located(provision.id, ref, confidence, clause.text, clause.section.page, second[0])


def _section_scores(by_phrasing: Sequence[Mapping[str, tuple[float, Clause]]]) -> dict[str, float]:
    totals = {}
    for ref in {ref for scores in by_phrasing for ref in scores}:
        values = [scores[ref][0] if ref in scores else 0.0 for scores in by_phrasing]
        total = (1 - _SUPPORT) * max(values) + _SUPPORT * sum(values) / len(values)
        totals[ref] = total * _SUMMARY.get(ref.split(" ")[0], 1.0)
    return totals


def _helped(own: Mapping[str, float], text: _Text, earlier: Earlier) -> dict[str, float]:
    """Add what the revision before tells. It helps to choose between sections and adds nothing to the confidence.

    Otherwise a wrong guess would grow more certain with every revision.
    """
    same_words = text.scores(earlier.excerpt)
    aligned = _aligned(earlier.section, text.sections)
    return {
        ref: score
        + (_SAME_WORDS * same_words[ref][0] if ref in same_words else 0.0)
        + (_ALIGNED if ref == aligned else 0.0)
        for ref, score in own.items()
    }


def _confidence(score: float, lead: float) -> float:
    """Return the confidence in a score, which counts in full only if no other section comes close."""
    certainty = 0.7 + 0.3 * min(1.0, max(0.0, lead) / _CLEAR_LEAD)
    return round(min(1.0, max(0.0, score * certainty)), 3)


def _aligned(section: SectionText, sections: Sequence[SectionText]) -> str | None:
    """Return the reference of the section that has most words in common, if it is clearly the same one."""
    if not sections:
        return None
    alike, _, ref = max((likeness(section, other), -at, other.ref) for at, other in enumerate(sections))
    return ref if alike >= _ALIKE else None


def _split(text: str) -> list[str]:
    """Cut a text into sentences and items, and add each list whole, with the words that introduce it."""
    parts = [part for part in (" ".join(raw.split()) for raw in _CLAUSE_END.split(text)) if part]
    lists = [_with_items(parts[at:]) for at, part in enumerate(parts) if part.endswith(":")]
    return [clause for clause in (*parts, *lists) if len(clause) >= _SHORTEST]


def _with_items(parts: Sequence[str]) -> str:
    whole = parts[0]
    for part in parts[1:]:
        if len(whole) + len(part) > _LONGEST:
            break
        whole = f"{whole} {part}"
    return whole
