"""Evidence of the sample applications, read from their PDFs by the real extractor and chunker, without servers."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from trigpoint.config import load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.documents import make_documents
from trigpoint.errors import NoContent
from trigpoint.ids import ref_as_name
from trigpoint.review.aspects import load_aspects
from trigpoint.review.assemble import assemble_review, revisions_used
from trigpoint.review.evidence import Evidence, Passage, PolicyPassage, same_section
from trigpoint.review.models import ReviewOptions
from trigpoint.review.result import ReviewResult
from trigpoint.review.rules import judge_by_rules
from trigpoint.review.verify import verify
from trigpoint.text.chunk import TextChunker
from trigpoint.text.extract import DocumentProcessor

REVISIONS = {
    "LTN_1_20": ("LTN_1_20_2020_07",),
    "NPPF": ("NPPF_2024_12", "NPPF_2023_09"),
    "MANUAL_FOR_STREETS": ("MANUAL_FOR_STREETS_2007_03",),
    "CHERWELL_LOCAL_PLAN": ("CHERWELL_LOCAL_PLAN_2015_07",),
    "OCC_LTCP": ("OCC_LTCP_2022_07",),
    "BICESTER_LCWIP": ("BICESTER_LCWIP_2020_09",),
}


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


def make_evidence(passages: dict[str, Passage], *, reference: str, day: str, without: tuple[str, ...] = ()) -> Evidence:
    """Evidence over passages, with the digests as the policy in force, but for the sources that are left out."""
    policies = {i: passage for i, passage in digest_passages(day).items() if passage.source not in without}
    in_force = {passage.source: passage.revision_id for passage in policies.values()}
    sections = {}
    for aspect in load_aspects():
        for basis in aspect.policies.values():
            section = basis.in_revision(in_force[basis.source]) if basis.source in in_force else None
            for passage in policies.values():
                if section and passage.source == basis.source and same_section(passage.section_ref, section):
                    sections[basis] = passage
    return Evidence(
        application_ref=reference,
        effective_date=day,
        passages=passages,
        ranked={aspect.id: tuple(passages) for aspect in load_aspects()},
        policies=policies,
        policy_ranked={aspect.id: tuple(policies)[:6] for aspect in load_aspects()},
        sections=sections,
        in_force=in_force,
        documents=tuple(sorted({passage.document for passage in passages.values()})),
    )


def evidence_of_text(
    *documents: str, reference: str = "25/01178/REM", day: str = "2025-05-21", without: tuple[str, ...] = ()
) -> Evidence:
    """Evidence made of short texts, each a document of one page."""
    passages = {}
    for number, text in enumerate(documents, 1):
        passage_id = f"{ref_as_name(reference)}_{number:06d}_001_000"
        passages[passage_id] = Passage(
            passage_id,
            text,
            reference,
            f"{ref_as_name(reference)}_{number:06d}",
            f"Document {number}.pdf",
            "other",
            (1,),
            0,
        )
    return make_evidence(passages, reference=reference, day=day, without=without)


def read_sample(reference: str, folder: Path) -> Evidence:
    application = sample_applications()[reference]
    processor, chunker = DocumentProcessor(load_settings(trigpoint_data_dir=folder / "data")), TextChunker()
    passages = {}
    skipped = ("Superseded Documents", "Consultee Responses", "Public Comments")
    try:
        files = make_documents(application, folder)
        for number, document in enumerate(application.documents):
            if document.section in skipped or processor.classify_document(files[document.file]).is_image_based:
                continue
            document_id = f"{ref_as_name(reference)}_{number:06x}"
            try:
                pages = processor.extract(files[document.file]).pages
            except NoContent:
                continue
            for chunk in chunker.chunk_pages(pages):
                passage_id = f"{document_id}_{chunk.pages[0] if chunk.pages else 0:03d}_{chunk.index:03d}"
                passages[passage_id] = Passage(
                    passage_id, chunk.text, reference, document_id, document.file, "other", chunk.pages, chunk.index
                )
    finally:
        processor.close()
    assert application.date_validated is not None
    return make_evidence(passages, reference=reference, day=application.date_validated.isoformat())


def result_of(evidence: Evidence, options: ReviewOptions | None = None) -> ReviewResult:
    """A finished review by rules over evidence, as the pipeline makes it."""
    chosen = options or ReviewOptions()
    aspects = tuple(one for one in load_aspects() if one.id in chosen.aspects)
    judgement, count = verify(judge_by_rules(evidence, aspects), evidence)
    application = {
        "reference": evidence.application_ref,
        "address": "Land North of Gavray Drive, Bicester",
        "proposal": "Reserved matters for 200 dwellings",
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
    return ReviewResult.model_validate(
        {"application": application, "review": assemble_review(judgement, chosen), "metadata": metadata}
    )
