"""References files: CSL-JSON, BibTeX and RIS say the same thing; every entry has a citekey, and no two the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trigpoint.errors import ConfigurationError
from trigpoint.library.citations import References, load_references

CSL = [
    {
        "id": "dft2020",
        "type": "report",
        "title": "Cycle Infrastructure Design",
        "author": [{"literal": "Department for Transport"}, {"family": "Müller", "given": "Jana"}],
        "issued": {"date-parts": [[2020]]},
        "DOI": "10.1234/LTN.120",
        "keyword": "cycling, design",
    }
]
BIBTEX = r"""
@comment{not an entry, really}
@string{dft = "Department for Transport"}
@techreport{dft2020,
  author = {{Department for Transport} and M{\"u}ller, Jana},
  title = {Cycle {I}nfrastructure {D}esign}, year = 2020, doi = {10.1234/LTN.120},
  institution = dft, keywords = {cycling, design}
}
"""
RIS = """TY  - RPRT
AU  - Department for Transport
AU  - Müller, Jana
TI  - Cycle Infrastructure Design
PY  - 2020/07/27
DO  - 10.1234/LTN.120
KW  - cycling
KW  - design
ID  - dft2020
ER  -
"""


def load(tmp_path: Path, name: str, text: str) -> References:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return load_references(file)


@pytest.mark.parametrize(("name", "text"), [("r.json", json.dumps(CSL)), ("r.bib", BIBTEX), ("r.ris", RIS)])
def test_the_three_kinds_of_file_give_the_same_work(tmp_path: Path, name: str, text: str) -> None:
    (work,) = load(tmp_path, name, text).works
    assert (work.citekey, work.title, work.year) == ("dft2020", "Cycle Infrastructure Design", 2020)
    assert (work.doi, work.tags) == ("10.1234/ltn.120", ("cycling", "design"))
    assert work.csl["author"] == [{"literal": "Department for Transport"}, {"family": "Müller", "given": "Jana"}]
    assert "2020" in work.citation
    assert "Cycle Infrastructure Design" in work.citation


def test_an_entry_without_a_citekey_gets_one_that_stays_the_same(tmp_path: Path) -> None:
    text = "".join(
        f"TY  - BOOK\nAU  - Gehl, Jan\nTI  - The {title}\nPY  - 2010\nER  - \n"
        for title in ("Cities", "Cities", "Life")
    )
    keys = [work.citekey for work in load(tmp_path, "r.ris", text).works]
    assert keys == ["gehl-cities-2010", "gehl-cities-2010b", "gehl-life-2010"]
    assert keys == [work.citekey for work in load(tmp_path, "again.ris", text).works]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.json", json.dumps([{"id": "a", "title": "One"}, {"id": "a", "title": "Two"}]), "item 1 (One) and by item 2 (Two)"),
        ("r.bib", "@book{a, title={One}}\n\n@book{a, title={Two}}\n", "in lines 1 and 3"),
        ("r.ris", "TY  - BOOK\nTI  - A\nID  - a\nER  - \nTY  - BOOK\nTI  - B\nID  - a\nER  - \n", "line 1 and by the entry at line 5"),
    ],
)  # fmt: skip
def test_a_citekey_that_is_used_twice_is_an_error_that_names_both_places(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(ConfigurationError, match="used twice") as caught:
        load(tmp_path, name, text)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("name", "text"),
    [("r.json", "{ nonsense"), ("r.json", '{"items": 3}'), ("r.ris", "TY  - BOOK\nTI  - open"), ("r.docx", "x"), ("none.json", None)],
)  # fmt: skip
def test_what_is_no_references_file_is_named(tmp_path: Path, name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError, match=name):
        load_references(tmp_path / name)


def test_names_in_any_order_and_tex_accents_are_read(tmp_path: Path) -> None:
    bib = (
        r"@book{k, title={\'Etudes \& more}, author={Jan Gehl and von der Leyen, Ursula and {World Bank}}, year={1999}}"
    )
    (work,) = load(tmp_path, "r.bib", bib).works
    assert work.title == "Études & more"
    assert work.csl["author"] == [
        {"family": "Gehl", "given": "Jan"},
        {"family": "von der Leyen", "given": "Ursula"},
        {"literal": "World Bank"},
    ]
