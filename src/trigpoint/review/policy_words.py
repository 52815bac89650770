"""The words of a section of policy that ask for a point: the sentence, the clause or the row of a table that fits it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

from trigpoint.errors import shorten
from trigpoint.land_uses import Use
from trigpoint.reading.profile import Profile
from trigpoint.reading.statements import split_sentences
from trigpoint.reading.uses import read_uses
from trigpoint.review.evidence import PolicyPassage, collapse, fold
from trigpoint.review.lookup import stems

WRAPPED = 0.8  # share of the longest line from which on a line may have been broken by the page's width
LONG_SENTENCE = 220  # characters: a longer one is read clause by clause
FEWEST_USES = 3  # different uses that a table by use names
ENOUGH = 0.55  # score that words must reach to be quoted
FEWEST_WORDS = 4  # a shorter quotation says nothing
_LONGEST_HEADING = 140
_GENERIC = frozenset(
    "cycle develop plan site scheme propos application document transport policy space way use need new road rout route provision "
    "street provid parking park unit area people per stay".split()
)
_LABELS: dict[str, tuple[Use, ...]] = {
    r"\b(?:sheltered|elderly|nursing|care home|extra care)": ("care_home",),
    r"\b(?:residential|dwellings?|houses|flats|homes)\b": ("dwellings",),
    r"\b(?:education|school|pupil)": ("school", "college"),
    r"\b(?:retail|shops?)\b": ("retail",),
    r"\b(?:office|finance)": ("office",),
    r"\b(?:industr|warehous|storage)": ("industrial", "storage"),
    r"\b(?:leisure|assembly|sports)": ("leisure",),
    r"\b(?:hospital|health)": ("health",),
}
_SPEED_WEIGHT = 2.5
_GENERIC_WEIGHT = 0.25
_SPEED = re.compile(r"\b(\d+) ?mph\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?<=[;:]) (?=\([a-z]\) |[a-z])")
_EXCEPT = re.compile(r"\b(?:all )?except\b[^:]*")
_SAME = {
    "bicycl": "cycle", "bike": "cycle", "cyclist": "cycle", "cycl": "cycle", "cycling": "cycle", "walk": "pedestrian",
    "foot": "pedestrian", "buse": "bus", "unlit": "lit", "light": "lit", "hom": "resident", "home": "resident", "hous": "resident",
    "dwell": "resident", "flat": "resident", "apartment": "resident", "resid": "resident", "residential": "resident",
    "residents": "resident", "stair": "step", "rack": "rack", "door": "step", "splay": "access", "visibility": "access",
    "wide": "width", "wid": "width", "tier": "tier", "school": "student", "passag": "step", "gat": "step",
    "bridleway": "right", "footpath": "right", "pupil": "student", "staff": "employe", "lift": "step",
}  # fmt: skip


def unwrapped(text: str) -> list[str]:
    """Return the lines of a text, those that the width of a page has broken put together again.

    A line without a stop goes on in the next one if that begins with a small letter or a figure, or if the line is about
    as long as the longest: a heading or a row that ends of itself is shorter.
    """
    lines = [collapse(line) for line in text.splitlines() if line.strip()]
    full = WRAPPED * max(map(len, lines), default=0)
    joined: list[str] = []
    for at, line in enumerate(lines):
        before = lines[at - 1] if at else ""
        goes_on = bool(before) and before[-1] not in ".;:|" and (line[0].islower() or len(before) >= full)
        if joined and goes_on:
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
    return joined


def policy_units(text: str) -> list[str]:
    """Return the rows, sentences and clauses of a section, each as it is printed. Headings are none."""
    units: list[str] = []
    for plain in unwrapped(text):
        for start, end in split_sentences(plain):
            sentence = plain[start:end].strip()
            units += _CLAUSE.split(sentence) if len(sentence) > LONG_SENTENCE else [sentence]
    said = [one.strip() for one in units if one.strip()]
    return list(dict.fromkeys([one for one in said if one[-1] in ".;:|" or " | " in one or " and" in one[-5:]] or said))


def headings_of(passage: PolicyPassage) -> list[str]:
    """Return the lines of a passage that head its text: those without a stop at their end that others follow."""
    lines = unwrapped(passage.text)
    return [
        line
        for line in lines[:-1]
        if len(line) < _LONGEST_HEADING and line[-1] not in ".;:|,)" and " | " not in line and not line.endswith(" and")
    ]


def without_heading(words: str, passage: PolicyPassage) -> str:
    """Return quoted words without a heading in front of them, on one line."""
    plain = collapse(words)
    for heading in headings_of(passage):
        if len(plain) > len(heading) and plain.casefold().startswith(heading.casefold()):
            return plain[len(heading) :].strip()
    return plain


def passage_shown(passage: PolicyPassage, claim: str, profile: Profile, most: int, quoted: Collection[str] = ()) -> str:
    """Return the text of a passage, its headings in brackets.

    Of a table by use it is the heading with the rows that are quoted, or with the row that fits a claim.
    """
    heads = headings_of(passage)
    rows = _rows_by_use(policy_units(passage.text))
    shown = [row for row, _ in rows if any(fold(words) in fold(row) for words in quoted if words)]
    if shown := shown or [row for row in (_row(rows, claim, profile),) if row]:
        return " ".join([*(f"[{head}]" for head in heads[:1]), *shown])
    return shorten(text_shown(passage), most)


def text_shown(passage: PolicyPassage) -> str:
    """Return the text of a passage, each line once, its headings in brackets."""
    heads = headings_of(passage)
    return " ".join(f"[{line}]" if line in heads else line for line in dict.fromkeys(unwrapped(passage.text)))


def fitting_words(passage: PolicyPassage, claim: str, profile: Profile) -> str:
    """Return the words of a passage that fit a claim, or nothing if none fit clearly.

    Only words count: a figure that somebody made up must not find the sentence that happens to have it.
    """
    units = policy_units(passage.text)
    rows = _rows_by_use(units)
    if rows:
        return _row(rows, claim, profile)
    heading = collapse(passage.text.splitlines()[0]) if passage.text else ""
    units = [one for one in units if len(one.split()) >= FEWEST_WORDS and one not in headings_of(passage)]
    scores = _scores(units, claim, heading)
    best = max(range(len(units)), key=scores.__getitem__, default=None)
    return units[best] if best is not None and scores[best] >= ENOUGH else ""


def _meant(text: str) -> list[str]:
    """Return the words of a text that tell its subject, speeds among them: a row of a table may be about 40 mph."""
    found = [stem for stem in stems(text.replace("-", " ")) if not any(letter.isdigit() for letter in stem)]
    return [*(_SAME.get(stem, stem) for stem in found), *(f"{speed}mph" for speed in _SPEED.findall(text))]


def _scores(units: Sequence[str], claim: str, heading: str = "") -> list[float]:
    """Return how near each unit is to a claim: rare words count for more, and long units do not win by length.

    A heading that speaks of the same thing makes all of its section a little nearer.
    """
    words = [set(_meant(one)) for one in units]
    seen = Counter(word for one in words for word in one)
    wanted = set(_meant(claim))
    weight = {word: _weight(word) * math.log(2 + (len(units) - count) / count) for word, count in seen.items()}
    near = sum(0.2 for word in wanted & set(_meant(heading)) if word not in _GENERIC)
    return [sum(weight[word] for word in wanted & one) / (1 + math.log1p(len(one)) / 4) + near for one in words]


def _weight(word: str) -> float:
    if word.endswith("mph"):
        return _SPEED_WEIGHT
    return _GENERIC_WEIGHT if word in _GENERIC else 1.0


def _rows_by_use(units: Sequence[str]) -> list[tuple[str, set[Use]]]:
    """Return the rows of a table by use, each with its uses; nothing if it is no such table."""
    rows = [(one, _uses_of_row(_EXCEPT.sub("", one.partition(":")[0].partition("|")[0]))) for one in units]
    named = {use for _, uses in rows for use in uses}
    return rows if len(named) >= FEWEST_USES else []


def _uses_of_row(label: str) -> set[Use]:
    """Return the uses that the label of a row names. Housing for the elderly is a use of its own."""
    named = {use for words, uses in _LABELS.items() if re.search(words, label, re.IGNORECASE) for use in uses}
    named |= {use for use, _ in read_uses(label)}
    return named - {"dwellings"} if "care_home" in named else named


def _row(rows: Sequence[tuple[str, set[Use]]], claim: str, profile: Profile) -> str:
    """Return the row of the use that a claim names, or of the use that is built if it names none."""
    spoken = {use for use, _ in read_uses(claim)}
    built = {one.use for one in profile.uses}
    for wanted in (spoken & built, spoken or built):
        fitting = [(len(uses - wanted), row) for row, uses in rows if uses & wanted]
        if fitting:
            nearest = min(others for others, _ in fitting)
            chosen = [row for others, row in fitting if others == nearest]
            scores = _scores(chosen, claim)
            best = max(range(len(chosen)), key=scores.__getitem__)
            return chosen[best] if len(chosen) == 1 or scores.count(scores[best]) == 1 else ""
    return ""
