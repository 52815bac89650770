"""The letter's page without JavaScript: position, points, words, versions, two writers, hostile texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from lxml import html
from page_samples import result

from review_states import complete
from trigpoint.review.letter import Ground, Letter, Reference

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}\"'</textarea>"


def form_of(page: httpx.Response) -> dict[str, Any]:
    """The fields of the letter's form as a browser would send them."""
    root = html.fromstring(page.text)
    form = next(one for one in root.forms if one.get("data-letter") is not None)
    fields: dict[str, Any] = {}
    for name, value in form.form_values():
        fields.setdefault(name, []).append(value.removeprefix("\n"))
    return fields


def points(page: httpx.Response) -> list[str]:
    return list(form_of(page)["point"])


def save(site: httpx.Client, place: str, fields: dict[str, Any], **changed: Any) -> httpx.Response:
    return site.post(f"{place}/letter", data=fields | {"action": "save"} | changed)


@pytest.fixture
def several(submit: Callable[..., str], clean_redis_url: str) -> str:
    """A review with a drafted letter of three points."""
    place = submit()
    drafted = Letter(
        stance="object",
        grounds=tuple(
            Ground(
                id=name,
                heading=f"Point {name}",
                text=f"Text of {name}.",
                asks=f"mend {name}",
                references=(
                    Reference(
                        text="Transport Assessment, page 1",
                        document_id="25_01178_REM_0a495d",
                        passage_id="25_01178_REM_0a495d_001_000",
                        pages=(1,),
                        quote="Each house is provided with 2 cycle parking spaces per dwelling.",
                    ),
                    Reference(text="Travel Plan, page 4", document_id="25_01178_REM_0b", pages=(4,)),
                ),
            )
            for name in "abc"
        ),
    )
    made = result()
    review = made.review.model_copy(update={"letter": drafted})
    complete(clean_redis_url, made.model_copy(update={"review": review}))
    return place


def test_the_draft_is_shown_with_the_suggested_position_and_its_reason(site: httpx.Client, finished: str) -> None:
    shown = site.get(f"{finished}/letter")
    assert shown.status_code == 200
    assert "Suggested: <strong>comment</strong>." in shown.text
    assert "one point speaks against the application" in shown.text
    fields = form_of(shown)
    assert fields["stance"] == ["comment"]
    assert fields["council_name"] == [""]
    assert "The register did not name it: fill it in." in shown.text
    assert "[Name of the council]" in shown.text
    assert "of 2 pages" in shown.text


def test_evidence_is_at_hand_as_a_marked_page_or_as_a_page(site: httpx.Client, several: str) -> None:
    shown = site.get(f"{several}/letter").text
    assert f'href="{several}/evidence/1"' in shown
    assert f'href="{several}/documents/25_01178_REM_0b?page=4#page"' in shown
    assert "<q>Each house is provided with 2 cycle parking spaces per dwelling.</q>" in shown


def test_words_position_and_sender_are_saved_and_printed(site: httpx.Client, several: str) -> None:
    fields = form_of(site.get(f"{several}/letter"))
    answer = save(
        site,
        several,
        fields,
        **{
            "stance": "support",
            "text:b": "My own words.",
            "sender_name": "A. Writer",
            "council_name": "Exeter City Council",
        },
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"{several}/letter?saved=1")
    shown = site.get(answer.headers["location"])
    assert "Saved as version 1." in shown.text
    text = site.get(f"{several}/download/text").text
    assert text.startswith("SUPPORT FOR PLANNING APPLICATION 25/01178/REM")
    assert "2. Point b. My own words." in text
    assert text.endswith("Yours faithfully,\nA. Writer\n")
    stored = site.get(f"/api/v1{several}/letter").json()["letter"]
    assert stored["grounds"][1]["references"][0]["text"] == "Transport Assessment, page 1"
    assert stored["council"]["name"] == "Exeter City Council"


def test_the_usual_first_paragraph_follows_the_position_until_somebody_writes_another(
    site: httpx.Client, several: str
) -> None:
    fields = form_of(site.get(f"{several}/letter"))
    assert fields["opening"][0].startswith("I am writing to object")
    save(site, several, fields, stance="support", sender_organisation="The Group")
    fields = form_of(site.get(f"{several}/letter"))
    assert fields["opening"][0].startswith("We are writing to support")
    save(site, several, fields, opening="The lane floods.", stance="object")
    assert form_of(site.get(f"{several}/letter"))["opening"] == ["The lane floods."]


def test_points_can_be_unticked_ordered_and_moved_to_the_annex(site: httpx.Client, several: str) -> None:
    fields = form_of(site.get(f"{several}/letter"))
    up = site.post(f"{several}/letter", data=fields | {"action": "up:c"})
    assert up.status_code == 200
    assert points(up) == ["a", "c", "b"]
    assert "Not saved yet" in up.text
    assert site.get(f"/api/v1{several}/letter/versions").json()["total"] == 0
    fields = form_of(site.post(f"{several}/letter", data=form_of(up) | {"action": "down:a"}))
    assert fields["point"] == ["c", "a", "b"]
    del fields["ticked:b"]
    save(site, several, fields, **{"place:a": "annex"})
    text = site.get(f"{several}/download/text").text
    assert text.index("1. Point c.") < text.index("ANNEX") < text.index("2. Point a.")
    assert "Point b" not in text
    kept = site.get(f"/api/v1{several}/letter").json()["letter"]["grounds"]
    assert [(one["id"], one["ticked"], one["annex"]) for one in kept] == [
        ("c", True, False),
        ("a", True, True),
        ("b", False, False),
    ]


def test_the_first_point_cannot_move_further_up(site: httpx.Client, several: str) -> None:
    fields = form_of(site.get(f"{several}/letter"))
    for action in ("up:a", "down:c", "up:unknown"):
        assert points(site.post(f"{several}/letter", data=fields | {"action": action})) == ["a", "b", "c"]


def test_a_question_moves_among_the_questions_only(
    site: httpx.Client, submit: Callable[..., str], clean_redis_url: str
) -> None:
    kinds = {"a": "shortfall", "b": "shortfall", "q": "question", "r": "question", "s": "strength"}
    grounds = tuple(Ground.model_validate({"id": one, "kind": kind, "text": one}) for one, kind in kinds.items())
    place = submit()
    made = result()
    drafted = Letter(stance="comment", grounds=grounds)
    complete(clean_redis_url, made.model_copy(update={"review": made.review.model_copy(update={"letter": drafted})}))
    shown = site.get(f"{place}/letter")
    fields = form_of(shown)
    assert "2 of 2 ticked" in shown.text
    for action, order in (("up:q", "abqrs"), ("down:b", "abqrs"), ("down:q", "abrqs"), ("up:s", "abqrs")):
        assert points(site.post(f"{place}/letter", data=fields | {"action": action})) == list(order)


@pytest.mark.parametrize(
    ("post", "printed"),
    [("39 Castle Quay\nBanbury\nOX16 5FD", "39 Castle Quay\nBanbury\nOX16 5FD"), (None, "[Address of the council]")],
)
def test_the_councils_address_comes_from_the_register_or_is_a_blank(
    site: httpx.Client, submit: Callable[..., str], clean_redis_url: str, post: str | None, printed: str
) -> None:
    place = submit()
    made = result()
    council = {"authority_name": "Cherwell District Council", "authority_post": post}
    complete(clean_redis_url, made.model_copy(update={"application": made.application.model_copy(update=council)}))
    shown = site.get(f"{place}/letter")
    assert form_of(shown)["council_address"] == [post or ""]
    paper = html.fromstring(shown.text).xpath("//*[@data-paper]//p[@class='council']")[0]
    lines = [line.strip() for line in paper.itertext() if line.strip()]
    assert lines == ["Development Management", "Cherwell District Council", *printed.split("\n")]


def test_a_point_of_ones_own_can_be_added_and_an_empty_one_is_dropped(site: httpx.Client, several: str) -> None:
    added = site.post(f"{several}/letter", data=form_of(site.get(f"{several}/letter")) | {"action": "add"})
    assert points(added) == ["a", "b", "c", "own-1"]
    fields = form_of(added) | {"text:own-1": "Children cross here every morning.", "heading:own-1": "The school"}
    save(site, several, fields)
    again = site.post(f"{several}/letter", data=form_of(site.get(f"{several}/letter")) | {"action": "add"})
    save(site, several, form_of(again))
    assert points(site.get(f"{several}/letter")) == ["a", "b", "c", "own-1"]
    assert "4. The school. Children cross here every morning." in site.get(f"{several}/download/text").text


def test_earlier_versions_are_listed_opened_and_restored(site: httpx.Client, several: str) -> None:
    for words in ("First words.", "Second words."):
        save(site, several, form_of(site.get(f"{several}/letter")), opening=words)
    shown = site.get(f"{several}/letter?version=1")
    assert "This is version 1." in shown.text
    assert form_of(shown)["opening"] == ["First words."]
    restored = site.post(f"{several}/letter/restore", data={"version": "1", "based_on": "2"})
    assert restored.headers["location"] == f"{several}/letter?saved=3"
    assert form_of(site.get(f"{several}/letter"))["opening"] == ["First words."]
    assert "Second words." in site.get(f"{several}/letter?version=2").text


def test_of_two_writers_neither_loses_a_word(site: httpx.Client, several: str) -> None:
    mine = form_of(site.get(f"{several}/letter"))
    theirs = form_of(site.get(f"{several}/letter"))
    save(site, several, theirs, opening="Their words.")
    refused = save(site, several, mine, opening="My words.")
    assert refused.status_code == 409
    assert "Somebody else saved this letter while you were writing" in refused.text
    fields = form_of(refused)
    assert (fields["opening"], fields["shown"], fields["based_on"]) == (["My words."], ["2"], ["1"])
    assert form_of(site.get(f"{several}/letter"))["opening"] == ["Their words."]
    assert save(site, several, fields).status_code == 303
    assert form_of(site.get(f"{several}/letter"))["opening"] == ["My words."]
    assert form_of(site.get(f"{several}/letter?version=1"))["opening"] == ["Their words."]


def test_the_preview_prints_what_the_form_has_and_saves_nothing(site: httpx.Client, several: str) -> None:
    fields = form_of(site.get(f"{several}/letter")) | {"text:a": HOSTILE, "stance": "comment"}
    shown = site.post(f"{several}/letter/preview", data=fields).json()
    assert "&lt;script&gt;alert(1)" in shown["html"]
    assert "<script>" not in shown["html"]
    assert "<img" not in shown["html"]
    assert shown["opening"].startswith("I am writing to comment")
    assert HOSTILE in shown["text"]
    assert shown["pages"] < 2
    assert site.get(f"/api/v1{several}/letter/versions").json()["total"] == 0


def test_hostile_texts_stay_texts_on_the_page(site: httpx.Client, several: str) -> None:
    fields = form_of(site.get(f"{several}/letter"))
    names = ("heading:a", "text:a", "asks:a", "sender_name", "sender_address", "council_name", "opening", "proposal")
    assert save(site, several, fields, **dict.fromkeys(names, HOSTILE)).status_code == 303
    shown = site.get(f"{several}/letter")
    root = html.fromstring(shown.text)
    assert not root.xpath("//script[not(@src)]")
    assert not root.xpath("//img[@onerror]")
    assert "49" not in form_of(shown)["text:a"][0]
    assert form_of(shown)["text:a"] == [HOSTILE]


def test_a_text_that_is_too_long_is_refused_with_the_reason(site: httpx.Client, several: str) -> None:
    answer = save(site, several, form_of(site.get(f"{several}/letter")), opening="a" * 7000)
    assert answer.status_code == 422
    assert "at most 6000 characters" in answer.text


def test_a_review_that_is_not_finished_has_no_letter(site: httpx.Client, submit: Callable[..., str]) -> None:
    answer = site.get(f"{submit()}/letter")
    assert answer.status_code == 400
    assert "a letter can be written once it is completed" in answer.text


@pytest.mark.parametrize("version", ["0x", "-1", "7", "999999999"])
def test_an_unknown_version_is_not_found(site: httpx.Client, several: str, version: str) -> None:
    assert site.get(f"{several}/letter?version={version}").status_code == 404


def test_a_form_from_another_site_saves_nothing(site: httpx.Client, several: str) -> None:
    fields = form_of(site.get(f"{several}/letter"))
    answer = site.post(f"{several}/letter", data=fields, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert site.get(f"/api/v1{several}/letter/versions").json()["total"] == 0
