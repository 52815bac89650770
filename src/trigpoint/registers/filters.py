"""The documents of an application that are worth fetching: a table of rules, the first that matches decides.

Words are matched whole and without regard to case; each rule carries the reason that a caller is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from trigpoint.registers.models import RegisterDocument

Toggle = Literal["consultation_responses", "public_comments", "superseded"]


@dataclass(frozen=True)
class Wanted:
    """The caller's toggles."""

    consultation_responses: bool = False
    public_comments: bool = False
    superseded: bool = False

    def includes(self, toggle: Toggle) -> bool:
        included: bool = getattr(self, toggle)
        return included


@dataclass(frozen=True)
class _Rule:
    """`where` names the field that is looked at; `keep` is a verdict, or the toggle that decides."""

    name: str
    where: Literal["category", "title", "either"]
    pattern: re.Pattern[str]
    keep: bool | Toggle
    reason: str
    unless: re.Pattern[str] | None = None

    def matches(self, category: str, title: str) -> bool:
        text = {"category": category, "title": title, "either": f"{category} | {title}"}[self.where]
        return self.pattern.search(text) is not None and (self.unless is None or self.unless.search(title) is None)


@dataclass(frozen=True)
class FilterVerdict:
    keep: bool
    rule: str
    reason: str


def _any_phrase(*phrases: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(phrases) + r")(?!\w)", re.IGNORECASE)


_REPLY = r"(?:responses?|repl(?:y|ies)|rebuttals?)"
_APPLICANT = r"(?:applicant|agent|developer|promoter)['’]?s?['’]?"
_WORDS_OF_CONSULTEE = "(?:responses?|repl(?:y|ies)|comments?|letters?)"
_CONSULTED = rf"(?:consultation|consultee)s?['’]?s? {_WORDS_OF_CONSULTEE}"
_NEIGHBOUR = "(?:public|neighbour|neighbor|resident)['’]?s?['’]?"
_PUBLIC_TITLES = (
    rf"{_NEIGHBOUR} (?:comments?|letters?|responses?|repl(?:y|ies))",
    "objections?",
    "objectors?",
    "representations?",
    "petitions?",
    "letters? of support",
)
_CONSULTATION_TITLES = (
    _CONSULTED,
    "comments?",
    rf"{_REPLY} to (?:the )?consultation(?! {_WORDS_OF_CONSULTEE})",
    rf"{_REPLY} (?:to|on) (?:the )?{_APPLICANT}",
)
_OTHERS = _any_phrase(*_PUBLIC_TITLES, *_CONSULTATION_TITLES).pattern

# The applicant's own reply begins with these words. A name that has them after "objection" or "comment" is not one.
OWN_REPLY = re.compile(
    rf"(?:^|\| )(?:(?!{_OTHERS})[^|])*?"
    + _any_phrase(
        rf"{_APPLICANT}(?: \w+){{0,2}} (?:{_REPLY}|comments)",
        rf"{_REPLY} to (?!(?:the )?{_APPLICANT})(?:\S+ ){{0,4}}?"
        rf"(?:consultees?|{_CONSULTED}|comments?|objections?|objectors?|representations?|queries)",
        "rebuttals?",
    ).pattern,
    re.IGNORECASE,
)

_PUBLIC = ("public", "neighbour", "third party", "residents?")

RULES = (
    _Rule("superseded", "either", _any_phrase("superseded"), "superseded", "Superseded by a later document"),
    _Rule(
        "category allowed",
        "category",
        _any_phrase(
            "application forms?",
            "supporting documents?",
            "site plans?",
            "proposed plans?",
            "plans - proposed",
            "officer/committee consideration",
            "decision and legal agreements?",
            "planning application documents?",
        ),
        True,
        "Category of the application's own documents",
    ),
    _Rule(
        "consultee category",
        "category",
        _any_phrase(
            "consultee (?:responses?|comments?|repl(?:y|ies))",
            "consultation (?:responses?|repl(?:y|ies))",
            "consultees?",
        ),
        "consultation_responses",
        "Consultation response; set include_consultation_responses to fetch it",
    ),
    _Rule(
        "public category",
        "category",
        _any_phrase(
            *(f"{who} (?:comments?|responses?|letters?|representations?)" for who in _PUBLIC),
            "representations?",
            "objections?",
            "letters? of (?:objection|support)",
            "petitions?",
        ),
        "public_comments",
        "Public comment; set include_public_comments to fetch it",
    ),
    _Rule(
        "public title",
        "title",
        _any_phrase(*_PUBLIC_TITLES),
        "public_comments",
        "Title of a public comment; set include_public_comments to fetch it",
        unless=OWN_REPLY,
    ),
    _Rule(
        "consultation title",
        "title",
        _any_phrase(*_CONSULTATION_TITLES),
        "consultation_responses",
        "Title of a consultation response; set include_consultation_responses to fetch it",
        unless=OWN_REPLY,
    ),
    _Rule(
        "relevant title",
        "title",
        _any_phrase(
            "transport(?:ation)?",
            "travel plans?",
            "highways?",
            "cycl(?:e|es|ing|eway|eways|ists?)",
            "walking",
            "active travel",
            "parking",
            "road safety",
            "access (?:statement|plan|plans|strategy|drawing|drawings)",
            "design (?:and|&) access",
            "planning statements?",
            "master ?plans?",
            "(?:site|location|block|layout|floor|roof) plans?",
            "(?:proposed|existing|general arrangement) plans?",
            "(?:site|street|highway) layouts?",
            "elevations?",
            "decision notices?",
            "decisions?",
            "(?:officer|committee|delegated)(?:['’]?s?)? reports?",
            "(?:section|s\\.?) ?106",
        ),
        True,
        "Title on transport, design, plans or a decision",
    ),
    _Rule(
        "unrelated title",
        "title",
        _any_phrase(
            "ecolog(?:y|ical|ist)",
            "biodiversity",
            "bats?",
            "newts?",
            "habitats?",
            "arboricultur(?:e|al)",
            "trees?",
            "heritage",
            "archaeolog(?:y|ical)",
            "floods?",
            "flooding",
            "drainage",
            "suds",
            "noise",
            "acoustics?",
            "air quality",
            "energy",
            "contaminat(?:ion|ed)",
        ),
        False,
        "Title on a subject unrelated to movement",
    ),
)
_OTHERWISE = FilterVerdict(True, "otherwise", "No rule excludes it")


def judge(document: RegisterDocument, wanted: Wanted = Wanted()) -> FilterVerdict:
    """Return whether to fetch a document, by which rule and why."""
    category, title = category_and_title(document)
    for rule in RULES:
        if rule.matches(category, title):
            keep = rule.keep if isinstance(rule.keep, bool) else wanted.includes(rule.keep)
            if keep and rule.name == "superseded":
                continue  # asked for: the other rules decide
            return FilterVerdict(keep, rule.name, rule.reason)
    return _OTHERWISE


def category_and_title(document: RegisterDocument) -> tuple[str, str]:
    """Return what the rules look at: the register's category; description and file name without its extension."""
    name = re.sub(r"[.][A-Za-z0-9]{1,5}$", "", document.file_name)
    return _spaced(document.document_type), _spaced(f"{document.description} | {name}")


def _spaced(text: str) -> str:
    return " ".join(text.replace("_", " ").split())
