"""The reference by which each file is cited: matches, doubts, references that several files claim, people's decisions.

A document carries its match in the metadata of its passages (`zotero.match`), so a decision of a person is kept with the
document and survives its next reading. One reference serves one file: if several match it, `settle` marks the weaker
ones, or all of them if none is stronger.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from trigpoint.errors import DocumentNotInProject, InvalidInput, shorten
from trigpoint.library.citations import References, Work
from trigpoint.library.matching import FileEvidence, match_work
from trigpoint.passages.model import DocumentRow, Passage
from trigpoint.passages.store import PassageStore

MatchedBy = Literal["identifier", "title", "zotero", "reader"]
_NO_REFERENCE = "-"  # given for a file that is not among the references


@dataclass(frozen=True)
class Assigned:
    """The work that a file is cited as, how it was matched, and why that is doubtful."""

    work: Work | None = None
    by: MatchedBy | None = None
    doubts: tuple[str, ...] = ()

    @property
    def doubt(self) -> str | None:
        return "; ".join(self.doubts) or None


@dataclass(frozen=True)
class CitedFile:
    """A document of a project as it is cited now. `shared` names the other files that are cited as the same work."""

    doc_id: str
    path: str
    citekey: str | None
    by: MatchedBy | None
    doubts: tuple[str, ...]
    shared: tuple[str, ...] = ()

    @property
    def doubt(self) -> str | None:
        return "; ".join([*self.doubts, *(f"{other} is cited as this too" for other in self.shared)]) or None


@dataclass(frozen=True)
class RefsReport:
    """The documents of a project by how they are cited, and the references that no document is cited as."""

    matched: tuple[CitedFile, ...]
    doubtful: tuple[CitedFile, ...]
    shared: tuple[CitedFile, ...]
    unmatched: tuple[CitedFile, ...]
    without_file: tuple[str, ...] = field(default=())


def assign(evidence: FileEvidence, references: References, given: Work | None) -> Assigned:
    """Return the work that a file is: a certain match with the references file, else what Zotero says about its own item."""
    match = match_work(evidence, references.works)
    if match is None or (given is not None and not match.is_sure):
        return Assigned(given, "zotero" if given else None)
    work = match.work
    if given is not None:
        work = replace(work, tags=tuple(dict.fromkeys([*work.tags, *given.tags])))
    doubts = () if match.is_sure else match.reasons or ("the titles are not the same",)
    return Assigned(work, "zotero" if given is not None else match.by, doubts)


def decided(about: Mapping[str, Any], references: References) -> Assigned | None:
    """Return what a person has decided about a document; None if nobody has, or if the reference is gone."""
    zotero = _payload_part(about, "zotero")
    if _payload_part(zotero, "match").get("by") != "reader":
        return None
    citekey = zotero.get("citekey")
    if citekey is None:
        return Assigned(None, "reader")
    work = references.by_citekey(citekey)
    return Assigned(work, "reader") if work else None


def work_payload(assigned: Assigned) -> dict[str, Any]:
    """Return the `zotero` part of a passage's metadata: the work, how it was matched, why that is doubtful."""
    work = assigned.work
    match = {"match": {"by": assigned.by, "doubts": list(assigned.doubts)}} if assigned.by else {}
    if work is None:
        return {"citekey": None, "tags": [], **match}
    said = {
        "citekey": work.citekey,
        "tags": list(work.tags),
        "title": work.title,
        "doi": work.doi,
        "url": work.url,
        "year": work.year,
        "citation": work.citation,
        **match,
    }
    return said | ({"doubt": assigned.doubt} if assigned.doubt else {})


def _cited_files(rows: Iterable[DocumentRow]) -> list[CitedFile]:
    """Return how the documents are cited; files that share a reference name each other unless one of them is stronger."""
    files = [_cited(row) for row in rows if row.path is not None]
    holders: dict[str, list[CitedFile]] = defaultdict(list)
    for file in files:
        if file.citekey is not None and file.by != "zotero":
            holders[file.citekey].append(file)
    shared = {file.doc_id: _others(file, holders.get(file.citekey or "", [])) for file in files}
    return [replace(file, shared=() if file.by == "zotero" else shared[file.doc_id]) for file in files]


def report(rows: Iterable[DocumentRow], references: References) -> RefsReport:
    files = sorted(_cited_files(rows), key=lambda file: file.path)
    cited = {file.citekey for file in files}
    return RefsReport(
        matched=tuple(f for f in files if f.citekey and not f.doubts and not f.shared),
        doubtful=tuple(f for f in files if f.citekey and f.doubts and not f.shared),
        shared=tuple(f for f in files if f.citekey and f.shared),
        unmatched=tuple(f for f in files if f.citekey is None),
        without_file=tuple(work.citekey for work in references.works if work.citekey and work.citekey not in cited),
    )


def settle(passages: PassageStore, model: str) -> list[CitedFile]:
    """Write doubts about shared references into the passages, and remove those that no longer apply. Return what changed."""
    rows = {row.document_id: row for row in passages.documents()}
    changed = []
    for file in _cited_files(rows.values()):
        if _payload_part(rows[file.doc_id].about, "zotero").get("doubt") != file.doubt:
            _rewrite(passages, file.doc_id, model, partial(_with_doubt, doubt=file.doubt))
            changed.append(file)
    return changed


def confirm(passages: PassageStore, model: str, name: str) -> CitedFile:
    """Take the citation of a file as right. Raises DocumentNotInProject, and InvalidInput if the file has none."""
    file = _file_named(passages, name)
    if file.citekey is None:
        raise InvalidInput(f"'{shorten(name)}' is cited as none of the references. Use --set FILE=CITEKEY")
    _rewrite(passages, file.doc_id, model, lambda zotero: _with_doubt({**zotero, "match": _BY_READER}, None))
    settle(passages, model)
    return file


def set_reference(passages: PassageStore, model: str, name: str, citekey: str, references: References) -> CitedFile:
    """Cite a file as this reference from now on; with `-`, as none of them."""
    file = _file_named(passages, name)
    work = None if citekey == _NO_REFERENCE else references.by_citekey(citekey)
    if work is None and citekey != _NO_REFERENCE:
        raise InvalidInput(f"No reference has the citekey '{shorten(citekey)}'. `library refs` lists the citekeys")
    payload = work_payload(Assigned(work, "reader"))

    def chosen(zotero: Mapping[str, Any]) -> dict[str, Any]:
        return payload | {key: zotero[key] for key in ("collections",) if key in zotero}

    _rewrite(passages, file.doc_id, model, chosen, title=work.title if work else None)
    settle(passages, model)
    return replace(file, citekey=work.citekey if work else None)


_BY_READER = {"by": "reader", "doubts": []}
_STRENGTHS = {"reader": 3, "identifier": 2, "title": 1, None: 1}


def _cited(row: DocumentRow) -> CitedFile:
    zotero = _payload_part(row.about, "zotero")
    match = _payload_part(zotero, "match")
    by: MatchedBy | None = match.get("by") or ("title" if zotero.get("citekey") else None)
    if "by" not in match and str(row.path).startswith("zotero://"):  # as version 0.1.0 wrote it
        by = "zotero"
    doubt = zotero.get("doubt")
    doubts = match.get("doubts", [doubt] if doubt else [])
    return CitedFile(row.document_id, row.path or "", zotero.get("citekey"), by, tuple(map(str, doubts or ())))


def _others(file: CitedFile, holders: Sequence[CitedFile]) -> tuple[str, ...]:
    """Return the other files that this one's doubt must name: none if a person chose it, or if it alone is strongest."""
    if len(holders) < 2 or file.by == "reader":
        return ()
    strongest = max(map(_strength, holders))
    alone = sum(_strength(holder) == strongest for holder in holders) == 1
    if alone and _strength(file) == strongest:
        return ()
    return tuple(Path(other.path).name for other in holders if other.doc_id != file.doc_id)


def _strength(file: CitedFile) -> int:
    return 0 if file.doubts else _STRENGTHS.get(file.by, 1)


def _file_named(passages: PassageStore, name: str) -> CitedFile:
    """Return the one document with this id, path or file name."""
    files = _cited_files(passages.documents())
    found = [file for file in files if name in (file.doc_id, file.path)] or [
        file for file in files if Path(file.path).name == name or str(Path(name).absolute()) == file.path
    ]
    if not found:
        raise DocumentNotInProject(f"No document of this project is called '{shorten(name)}'", doc_id=shorten(name))
    if len(found) > 1:
        paths = ", ".join(file.path for file in found)
        raise InvalidInput(
            f"'{shorten(name)}' is the name of several files: {shorten(paths, 500)}. Give the whole path"
        )
    return found[0]


def _with_doubt(zotero: Mapping[str, Any], doubt: str | None) -> dict[str, Any]:
    kept = {key: value for key, value in zotero.items() if key != "doubt"}
    return kept | ({"doubt": doubt} if doubt else {})


def _rewrite(
    passages: PassageStore,
    doc_id: str,
    model: str,
    change: Callable[[Mapping[str, Any]], dict[str, Any]],
    title: str | None = None,
) -> None:
    """Change the work that a document's passages name, in one write; their texts and vectors stay."""

    def changed(passage: Passage) -> Passage:
        source = {**_payload_part(passage.metadata, "source"), **({"title": title} if title else {})}
        zotero = change(_payload_part(passage.metadata, "zotero"))
        return replace(passage, metadata={**passage.metadata, "source": source, "zotero": zotero})

    passages.write([changed(passage) for passage in passages.document(doc_id)], model=model)


def _payload_part(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = payload.get(name)
    return part if isinstance(part, Mapping) else {}
