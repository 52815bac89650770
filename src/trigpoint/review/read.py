"""Read an application: every document whole, into a profile, facts and discrepancies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.reading.contradictions import find_discrepancies
from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import Fact, read_facts
from trigpoint.reading.profile import Application, Profile, read_profile
from trigpoint.reading.statements import document_statements


@dataclass(frozen=True)
class Reading:
    """Everything that was read in the documents of an application."""

    profile: Profile
    facts: tuple[Fact, ...]
    discrepancies: tuple[Discrepancy, ...]


def read_application(documents: Sequence[Document], application: Application) -> Reading:
    """Return the profile, the facts and the discrepancies of an application's documents."""
    statements = [statement for document in documents for statement in document_statements(document)]
    profile = read_profile(application, documents)
    facts = read_facts(statements, profile, documents)
    return Reading(profile, facts, find_discrepancies(facts, profile, statements, documents))
