"""Exports references for other programs: those that a text cites, as CSL-JSON, BibTeX or RIS, or in a citation style."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from trigpoint.errors import InvalidInput, shorten
from trigpoint.library.citations import References, Work

ExportFormat = Literal["csl", "bibtex", "ris"]

_PANDOC_KEY = r"(?<![\w@])@\{?(?P<key>[\w][\w:.#$%&+?<>~/-]*[\w]|[\w])"
_LATEX_KEYS = r"\\(?:auto|paren|text|foot)?cite[pt]?\*?(?:\[[^]]*\])*\{(?P<keys>[^}]+)\}"
_CITED = re.compile(f"{_PANDOC_KEY}|{_LATEX_KEYS}")
_BIBTEX_TYPES = {
    "article-journal": "article", "book": "book", "chapter": "incollection", "paper-conference": "inproceedings",
    "thesis": "phdthesis", "report": "techreport", "webpage": "online",
}  # fmt: skip
_BIBTEX_FIELDS = {
    "container-title": "journal", "publisher": "publisher", "publisher-place": "address", "volume": "volume",
    "issue": "number", "page": "pages", "edition": "edition", "DOI": "doi", "ISBN": "isbn", "URL": "url",
}  # fmt: skip
_RIS_TYPES = {
    "article-journal": "JOUR", "book": "BOOK", "chapter": "CHAP", "paper-conference": "CPAPER", "thesis": "THES",
    "report": "RPRT", "webpage": "ELEC", "legislation": "STAT", "legal_case": "CASE", "dataset": "DATA",
}  # fmt: skip
_RIS_FIELDS = {
    "container-title": "T2", "publisher": "PB", "publisher-place": "CY", "volume": "VL", "issue": "IS",
    "edition": "ET", "DOI": "DO", "ISBN": "SN", "URL": "UR",
}  # fmt: skip
_TEX_SPECIAL = re.compile(r"([&%$#_])")


def cited_keys(text: str) -> list[str]:
    r"""Return the citekeys that a text cites, each once: `@key` as in Pandoc's Markdown, `\cite{one,two}` as in LaTeX."""
    matches = _CITED.finditer(text)
    keys = (key.strip() for match in matches for key in (match["key"] or match["keys"]).split(","))
    return list(dict.fromkeys(key for key in keys if key))


def chosen_works(references: References, citekeys: Iterable[str]) -> list[Work]:
    """Return the works with these citekeys, in this order. Raises InvalidInput naming all that are unknown."""
    wanted = list(citekeys)
    works = [work for key in wanted if (work := references.by_citekey(key))]
    unknown = [key for key in wanted if references.by_citekey(key) is None]
    if unknown:
        raise InvalidInput(f"No reference has the citekey {shorten(', '.join(unknown), 300)}")
    return works


def exported(works: Sequence[Work], form: ExportFormat) -> str:
    """Return the works in a format that reference managers read."""
    if form == "csl":
        return json.dumps([dict(work.csl) for work in works], ensure_ascii=False, indent=2) + "\n"
    write = _bibtex if form == "bibtex" else _ris
    return "\n".join(write(work) for work in works)


def _bibtex(work: Work) -> str:
    csl = work.csl
    kind = _BIBTEX_TYPES.get(str(csl.get("type")), "misc")
    fields = {"title": f"{{{_tex(work.title)}}}"}
    for role in ("author", "editor"):
        if people := " and ".join(_bibtex_name(one) for one in csl.get(role) or ()):
            fields[role] = people
    if work.year:
        fields["year"] = str(work.year)
    for name, field in _BIBTEX_FIELDS.items():
        if csl.get(name):
            value = str(csl[name])
            fields[_bibtex_field(field, kind)] = value if field in ("doi", "url") else _tex(value)
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
    return f"@{kind}{{{work.citekey},\n" + ",\n".join(lines) + "\n}\n"


def _bibtex_field(field: str, kind: str) -> str:
    if field == "journal" and kind in ("incollection", "inproceedings"):
        return "booktitle"
    names = {"techreport": "institution", "phdthesis": "school"}
    return names.get(kind, field) if field == "publisher" else field


def _bibtex_name(person: Mapping[str, Any]) -> str:
    if person.get("literal"):
        return f"{{{_tex(str(person['literal']))}}}"
    return ", ".join(_tex(str(person[part])) for part in ("family", "given") if person.get(part))


def _tex(text: str) -> str:
    return _TEX_SPECIAL.sub(r"\\\1", text.replace("{", "").replace("}", ""))


def _ris(work: Work) -> str:
    csl = work.csl
    lines = [("TY", _RIS_TYPES.get(str(csl.get("type")), "GEN")), ("ID", work.citekey or ""), ("TI", work.title)]
    for role, tag in (("author", "AU"), ("editor", "ED")):
        lines += [(tag, _ris_name(one)) for one in csl.get(role) or ()]
    if work.year:
        lines.append(("PY", str(work.year)))
    lines += [(tag, str(csl[name])) for name, tag in _RIS_FIELDS.items() if csl.get(name)]
    first, _, last = str(csl.get("page") or "").replace("–", "-").partition("-")
    lines += [(tag, page.strip()) for tag, page in (("SP", first), ("EP", last)) if page.strip()]
    return "\n".join(f"{tag}  - {' '.join(value.split())}" for tag, value in lines if value) + "\nER  - \n"


def _ris_name(person: Mapping[str, Any]) -> str:
    return str(person.get("literal") or ", ".join(str(person[p]) for p in ("family", "given") if person.get(p)))
