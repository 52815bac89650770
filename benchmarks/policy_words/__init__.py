"""How often the words of policy that we choose fit the finding: `python -m benchmarks.policy_words`.

A row of `first.tsv` or `second.tsv` is an application, a section of a shipped digest, a finding and the beginning or another
part of the words that a planner would quote; an empty last column means that none fit. The first half was labelled before the
choice was tuned, and it was tuned on it; the second was labelled after it was finished, and nothing was changed for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from benchmarks.reading.applications import own_applications
from trigpoint.reading.profile import Application, Profile, read_profile
from trigpoint.review.evidence import PolicyPassage
from trigpoint.review.policy_words import fitting_words

REVISIONS = {"LTN_1_20": "LTN_1_20_2020_07", "NPPF": "NPPF_2024_12", "MANUAL_FOR_STREETS": "MANUAL_FOR_STREETS_2007_03"}


@dataclass(frozen=True)
class Pair:
    """A finding, the section it is judged by, and the words of it that fit."""

    application: str
    source: str
    section: str
    finding: str
    right: str


def pairs(half: str) -> Iterator[Pair]:
    """Yield the pairs of one half, `first` or `second`."""
    for line in Path(__file__).with_name(f"{half}.tsv").read_text(encoding="utf-8").splitlines():
        yield Pair(*[*line.split("\t"), ""][:5])


def section(source: str, name: str) -> PolicyPassage:
    """Return a section of a shipped digest."""
    digest = resources.files("trigpoint.policies") / "digests" / f"{REVISIONS[source]}.md"
    for block in re.split(r"^#+ ", digest.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = block.partition("\n")
        if heading.split(":")[0].strip() == name:
            return PolicyPassage(f"{source}:{name}", f"{heading}\n{body.strip()}", source, "r", "v", name, 1)
    raise SystemExit(f"{source} has no section {name!r}")


def profiles() -> dict[str, Profile]:
    """Return what each written application builds."""
    return {
        one.name: read_profile(
            Application(**{k: one.about["register"].get(k) or "" for k in ("reference", "proposal")}), ()
        )
        for one in own_applications()
    }


def score(half: str) -> tuple[int, int, int, list[str]]:
    """Return how many choices are right, wrong and left out, with those that are not right."""
    known, right, wrong, missed = profiles(), 0, 0, []
    for pair in pairs(half):
        words = fitting_words(section(pair.source, pair.section), pair.finding, known[pair.application])
        fits = bool(words) == bool(pair.right) and pair.right.lower() in words.lower()
        right, wrong = right + fits, wrong + (not fits and bool(words))
        missed += [] if fits else [f"{pair.section}: {pair.finding[:70]} -> {words[:90] or 'no words'}"]
    return right, wrong, len(list(pairs(half))) - right - wrong, missed
