"""Evidence of the applications that were written for the benchmarks, with national policy in force."""

from __future__ import annotations

from functools import cache

from benchmarks.reading.applications import LabelledApplication, own_applications
from review_samples import make_evidence

from trigpoint.reading.documents import pages_by_form_feed
from trigpoint.reading.profile import Application
from trigpoint.review.evidence import Evidence

LOCAL = ("CHERWELL_LOCAL_PLAN", "OCC_LTCP", "BICESTER_LCWIP")


@cache
def written(name: str) -> LabelledApplication:
    return next(one for one in own_applications() if one.name == name)


@cache
def written_evidence(name: str) -> Evidence:
    """Return the evidence of one written application."""
    application = written(name)
    known = application.about["register"]
    documents = tuple(
        one.model_copy(update={"pages": pages_by_form_feed(one.text)}) if not one.pages else one
        for one in application.documents
    )
    entry = Application(
        **{field: known.get(field) or "" for field in ("reference", "proposal", "address", "application_type")}
    )
    return make_evidence(documents, entry, day="2025-10-01", without=LOCAL)
