"""Evidence of texts and of the sample applications, read by the real extractor and reader, without servers."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path

from trigpoint.config import load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.documents import make_documents
from trigpoint.documents.content import DocumentContent
from trigpoint.errors import NoContent
from trigpoint.ids import ref_as_name
from trigpoint.policies.provisions import Provision, load_provisions
from trigpoint.reading.documents import Document, PageSpan, pages_by_form_feed
from trigpoint.reading.profile import Application
from trigpoint.reading.sources import source_kind_of
from trigpoint.review.aspects import load_aspects
from trigpoint.review.assemble import assemble_review, revisions_used
from trigpoint.review.evidence import Evidence, PlacedProvision, PolicyPassage
from trigpoint.review.models import ReviewOptions
from trigpoint.review.read import read_application
from trigpoint.review.result import ReviewResult
from trigpoint.review.rules import judge_by_rules
from trigpoint.review.verify import verify
from trigpoint.text.extract import DocumentProcessor

REF = "25/01178/REM"
DAY = "2025-05-21"
HOMES = "Erection of 200 dwellings with access, landscaping and open space"
REVISIONS = {
    "LTN_1_20": ("LTN_1_20_2020_07",),
    "NPPF": ("NPPF_2024_12", "NPPF_2023_09"),
    "MANUAL_FOR_STREETS": ("MANUAL_FOR_STREETS_2007_03",),
    "CHERWELL_LOCAL_PLAN": ("CHERWELL_LOCAL_PLAN_2015_07",),
    "OCC_LTCP": ("OCC_LTCP_2022_07",),
    "BICESTER_LCWIP": ("BICESTER_LCWIP_2020_09",),
}
_CATEGORIES = {
    "local_plan": "CHERWELL_LOCAL_PLAN",
    "county_strategy": "OCC_LTCP",
    "local_guidance": "BICESTER_LCWIP",
}


@cache
def digest_passages(day: str) -> dict[str, PolicyPassage]:
    """One passage a section of the digests in force on a day."""
    found = {}
    for source, names in REVISIONS.items():
        name = names[0] if source != "NPPF" or day >= "2024-12-12" else names[1]
        text = (resources.files("trigpoint.policies") / "digests" / f"{name}.md").read_text(encoding="utf-8")
        for number, block in enumerate(re.split(r"^#+ ", text, flags=re.MULTILINE)[2:]):
            heading, _, body = block.partition("\n")
            section = heading.split(":")[0].strip()
            passage_id = f"{source}__rev_{name}__{section.replace(' ', '_')}__{number:03d}"
            found[passage_id] = PolicyPassage(
                passage_id, f"{heading}\n{body.strip()}", source, f"rev_{name}", name[-7:], section, 1
            )
    return found


@cache
def placed_provisions(day: str, without: tuple[str, ...] = ()) -> dict[str, tuple[PlacedProvision, ...]]:
    """Every provision with the section of the digests that shares most of its words."""
    return {one.id: (_placed(one, day),) for one in load_provisions() if _source(one) not in without}


def _source(provision: Provision) -> str:
    return provision.source or _CATEGORIES[provision.category.value if provision.category else ""]


def _placed(provision: Provision, day: str) -> PlacedProvision:
    wanted = [_words(phrasing) for phrasing in provision.phrasings]
    passages = [one for one in digest_passages(day).values() if one.source == _source(provision)]
    best = max(passages, key=lambda one: sum(len(words & _words(one.text)) / len(words) for words in wanted))
    return PlacedProvision(provision.id, provision.title, provision.requires, best)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def make_evidence(
    documents: tuple[Document, ...], application: Application, *, day: str = DAY, without: tuple[str, ...] = ()
) -> Evidence:
    """Evidence over documents, with the digests as the policy in force, but for the sources that are left out."""
    reading = read_application(documents, application)
    provisions = placed_provisions(day, without)
    return Evidence(
        application_ref=application.reference,
        effective_date=day,
        documents=documents,
        profile=reading.profile,
        facts=reading.facts,
        discrepancies=reading.discrepancies,
        provisions=provisions,
        in_force={one.passage.source: one.passage.revision_id for group in provisions.values() for one in group},
    )


def document(text: str, number: int = 1, *, name: str | None = None, reference: str = REF) -> Document:
    """A document of a text, in which form feeds separate pages."""
    name = name or f"Document {number}.pdf"
    pages = pages_by_form_feed(text) or (PageSpan(number=1, start=0, end=len(text)),)
    document_id = f"{ref_as_name(reference)}_{number:06d}"
    return Document(id=document_id, name=name, text=text, source_kind=source_kind_of(name, text), pages=pages)


def evidence_of_text(
    *texts: str,
    reference: str = REF,
    day: str = DAY,
    proposal: str = HOMES,
    without: tuple[str, ...] = (),
) -> Evidence:
    """Evidence made of short texts, each a document."""
    documents = tuple(document(text, number, reference=reference) for number, text in enumerate(texts, 1))
    application = Application(reference=reference, proposal=proposal, authority="cherwell")
    return make_evidence(documents, application, day=day, without=without)


def read_sample(reference: str, folder: Path) -> Evidence:
    """Evidence of a sample application, from its PDFs."""
    sample = sample_applications()[reference]
    processor = DocumentProcessor(load_settings(trigpoint_data_dir=folder / "data"))
    documents = []
    skipped = ("Superseded Documents", "Consultee Responses", "Public Comments")
    try:
        files = make_documents(sample, folder)
        for number, entry in enumerate(sample.documents):
            if entry.section in skipped or processor.classify_document(files[entry.file]).is_image_based:
                continue
            try:
                content = DocumentContent.of(processor.extract(files[entry.file]))
            except NoContent:
                continue
            pages = tuple(PageSpan(number=page.number, start=page.start, end=page.end) for page in content.pages)
            documents.append(
                Document(id=f"{ref_as_name(reference)}_{number:06x}", name=entry.file, text=content.text, pages=pages)
            )
    finally:
        processor.close()
    assert sample.date_validated is not None
    application = Application(reference=reference, proposal=sample.proposal or "", authority="cherwell")
    return make_evidence(tuple(documents), application, day=sample.date_validated.isoformat())


def result_of(evidence: Evidence, options: ReviewOptions | None = None) -> ReviewResult:
    """A finished review by rules over evidence, as the pipeline makes it."""
    chosen = options or ReviewOptions()
    aspects = tuple(one for one in load_aspects() if one.id in chosen.aspects)
    judgement, count = verify(judge_by_rules(evidence, aspects), evidence)
    application = {
        "reference": evidence.application_ref,
        "address": "Land North of Gavray Drive, Bicester",
        "proposal": evidence.profile.proposal,
        "applicant": "Gavray Homes Ltd (fictional)",
        "status": "Under consideration",
        "consultation_end": "2025-07-04",
        "documents_fetched": len(evidence.documents),
        "documents_ingested": len(evidence.documents),
        "date_validated": evidence.effective_date,
        "portal_url": f"https://register.example/Planning/Display/{evidence.application_ref}",
    }
    metadata = {
        "model": "rules",
        "citations": count.counts(),
        "policy_effective_date": evidence.effective_date,
        "policy_revisions_used": revisions_used(judgement),
    }
    body = assemble_review(judgement, chosen)
    return ReviewResult.model_validate({"application": application, "review": body, "metadata": metadata})
