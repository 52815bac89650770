"""The reading on labelled applications: status by coverage, provision that is none, quoting, speed; per application.

What the trained readers have learned from is read by others that have not: one training for each family.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks.reading.applications import SEALED, LabelledApplication, own_applications, shared_applications
from benchmarks.reading.cross_validation import readers_without
from benchmarks.reading.profiles import ProfileScore, score_profile
from benchmarks.reading.scores import Outcomes, Reported, print_outcomes, score, score_discrepancies, share
from benchmarks.report import Report
from trigpoint.reading.facts import read_facts
from trigpoint.reading.profile import Profile
from trigpoint.reading.readers import Readers, shipped_readers
from trigpoint.reading.statements import document_statements

CHARACTERS_A_PAGE = 2_500


def run(report: Report) -> None:
    sealed = list(own_applications(SEALED))
    learned = [*shared_applications(), *own_applications()]
    applications = [*learned, *sealed]
    together = Outcomes()
    found = wanted = others = 0
    profiles: list[ProfileScore] = []
    for application, readers in _unseen(learned, sealed):
        outcomes = score(application, readers)
        print_outcomes(f"{application.family}: {application.name}", outcomes)
        profiles.append(profile := score_profile(application))
        print(f"    profile: {profile}")
        reported = score_discrepancies(application, readers)
        _print_discrepancies(reported, in_words=application not in sealed)
        found, wanted = found + len(reported.found), wanted + len(reported.found) + len(reported.missed)
        others += len(reported.others)
        together.add(outcomes)
    print_outcomes("all", together)
    _rows(report, together)
    _profile_rows(report, profiles)
    report.row("sums and contradictions found", found, f"of {wanted} that must be reported")
    report.row("sums and contradictions that are not on the list", others, "to be looked at one by one")
    _speed(report, applications)


def _unseen(
    learned: Sequence[LabelledApplication], sealed: Sequence[LabelledApplication]
) -> Iterator[tuple[LabelledApplication, Readers]]:
    """Yield each application with readers that have not learned from its family; the shipped ones know no sealed one."""
    yield from readers_without(learned)
    yield from ((application, shipped_readers()) for application in sealed)


def _print_discrepancies(reported: Reported, *, in_words: bool) -> None:
    """Print what was found and missed; of a sealed application the numbers only."""
    if not in_words:
        counts = len(reported.found), len(reported.missed), len(reported.others)
        print("    sums and contradictions: {} found, {} missed, {} not on the list".format(*counts))
        return
    for point in reported.found:
        print(f"    found: {point}")
    for point in reported.missed:
        print(f"    missed: {point}")
    for one in reported.others:
        print(f"    not on the list: {one.summary}")


def _rows(report: Report, outcomes: Outcomes) -> None:
    report.row("status right", share(outcomes.status).value, "share")
    report.row("said with certainty", share(outcomes.certain_of).value, "share")
    report.row("right when certain", share(outcomes.certain).value, "share", bar=">= 0.95")
    report.row("taken for provision that is none", share(outcomes.taken_for_provision).value, "share", bar="<= 0.02")
    report.row("quoted under the right aspect", share(outcomes.quoted).value, "share", bar=">= 0.85")
    report.row("quoted and irrelevant", share(outcomes.irrelevant).value, "share", bar="<= 0.3")


def _profile_rows(report: Report, profiles: list[ProfileScore]) -> None:
    for name in ("kind", "scale"):
        right = sum(getattr(one, name) for one in profiles)
        report.row(f"profile: {name} right", right, f"of {len(profiles)}")
    for name in ("uses", "sizes"):
        pairs = [getattr(one, name) for one in profiles]
        report.row(f"profile: {name} right", sum(one for one, _ in pairs), f"of {sum(of for _, of in pairs)}")
    report.row("profile: uses that are not there", sum(len(one.false_uses) for one in profiles), "uses", bar="<= 0")


def _speed(report: Report, applications: list[LabelledApplication]) -> None:
    documents = [document for application in applications for document in application.documents]
    pages = sum(len(document.text) for document in documents) / CHARACTERS_A_PAGE
    start = time.process_time()
    statements = [one for document in documents for one in document_statements(document)]
    read_facts(statements, Profile(), documents)
    taken = time.process_time() - start
    report.row("reading 100 pages, CPU time", taken / pages * 100, "s", bar="<= 3", note="a page is 2,500 characters")
