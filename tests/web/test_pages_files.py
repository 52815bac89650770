"""Review what I have, on the page: a plain form of many files, and what the script sends."""

from __future__ import annotations

import httpx
import pymupdf
import pytest


def pdf(text: str) -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), text)
        return document.tobytes()


FILES = [("files", ("TA.pdf", pdf("ta"))), ("files", ("Plans/Layout.pdf", pdf("layout")))]
KNOWN = {"authority": "City of York Council", "date_validated": "2025-05-21", "application_ref": "24/00593/FUL"}


def test_the_start_page_leads_to_it_and_offers_readable_registers_only(site: httpx.Client) -> None:
    page = site.get("/").text
    assert 'href="/reviews/files"' in page
    assert '<option value="cherwell" selected>' in page
    assert 'value="york"' in page
    assert 'value="birmingham"' not in page
    form = site.get("/reviews/files").text
    assert 'enctype="multipart/form-data"' in form
    assert 'type="file" multiple' in form


def test_many_files_become_a_review_without_a_script(site: httpx.Client) -> None:
    answer = site.post("/reviews/files", files=FILES, data=KNOWN)
    assert answer.status_code == 303, answer.text
    page = site.get(answer.headers["location"]).text
    assert "24/00593/FUL" in page
    assert "The review is under way" in page


def test_what_is_missing_is_asked_for_and_what_was_written_stays(site: httpx.Client) -> None:
    answer = site.post("/reviews/files", files=FILES, data={"authority": "Leeds", "proposal": "12 flats <b>"})
    assert answer.status_code == 422
    assert "date on which the application was validated" in answer.text
    assert 'value="Leeds"' in answer.text
    assert "12 flats &lt;b&gt;" in answer.text


@pytest.mark.parametrize("data", [KNOWN | {"date_validated": "21/05/2025"}, KNOWN | {"application_ref": "../x"}])
def test_wrong_values_are_said(data: dict[str, str], site: httpx.Client) -> None:
    assert site.post("/reviews/files", files=FILES, data=data).status_code == 422
    assert "No files were given" in site.post("/reviews/files", files=[("files", ("", b""))], data=KNOWN).text


def test_a_script_gets_the_address_of_the_review_or_the_problem(site: httpx.Client) -> None:
    asking = {"Accept": "application/json"}
    done = site.post("/reviews/files", files=FILES, data=KNOWN, headers=asking)
    assert (done.status_code, done.json()["place"].startswith("/reviews/rev_")) == (200, True)
    refused = site.post("/reviews/files", files=FILES, headers=asking)
    assert refused.status_code == 422
    assert "Say the date" in refused.json()["problem"]


def test_another_councils_application_is_submitted_by_the_form(site: httpx.Client) -> None:
    answer = site.post("/reviews", data={"application_ref": "PA24/00001", "authority": "cornwall"})
    assert answer.status_code == 303
    wrong = site.post("/reviews", data={"application_ref": "PA24/00001", "authority": "york"})
    assert wrong.status_code == 422
    assert "not a reference of City of York Council" in wrong.text
