"""A review led by somebody's agent, from opening to PDF: the official client over HTTP against everything that `up` runs."""

from __future__ import annotations

import httpx
import pymupdf
import pytest
from reviewing_agent import (
    FALSE_STATEMENT,
    FALSE_WORDS,
    REFERENCE,
    TRUE_WORDS,
    Agent,
    Refused,
    conclusion,
    finding,
    over_http,
)

from trigpoint_process import Running, submitted

SMALL = "25/01502/F"


def words_of(pdf: bytes) -> str:
    with pymupdf.open(stream=pdf) as document:
        return " ".join(" ".join(page.get_text() for page in document).split())


def posted(everything: Running, path: str, body: dict[str, str] | None = None) -> int:
    return httpx.post(f"{everything.url()}/api/v1/reviews{path}", json=body, timeout=30).status_code


async def handed_in(agent: Agent) -> str:
    """Hand in one point that holds, one that is mended, one that stays false. Return the id of the first."""
    label = agent.documents["Transport Statement.pdf"]
    first = await agent.on(
        "submit_findings",
        findings=[
            finding(label, 6, TRUE_WORDS, "The houses have no cycle parking."),
            finding(label, 4, "The nearest bus stop is 40m away.", "The bus stop is 40 m away.", **BUS),
            finding(label, 6, FALSE_WORDS, FALSE_STATEMENT, question="quality"),
        ],
    )
    assert [one["verdict"] for one in first["verdicts"]] == ["verified", "returned", "returned"]
    assert FALSE_WORDS in first["verdicts"][2]["reasons"][0]
    assert "These words are not in" in first["verdicts"][1]["reasons"][0]
    good, mended, false = (one["id"] for one in first["verdicts"])
    stop = "The nearest bus stop is 1,100m from the centre of the site."
    second = await agent.on(
        "submit_findings",
        findings=[
            finding(label, 4, stop, "The nearest bus stop is 1,100 m from the centre.", id=mended, **BUS),
            finding(label, 6, FALSE_WORDS, FALSE_STATEMENT, question="quality", id=false),
        ],
    )
    assert [one["verdict"] for one in second["verdicts"]] == ["verified", "dropped"]
    return str(good)


BUS = {"aspect": "public_transport", "question": "bus_distance"}


async def test_from_opening_to_letter_and_pdf_only_what_was_verified_appears(everything: Running) -> None:
    async with over_http(everything.url("REVIEWER")) as agent:
        opened = await agent.open(application_ref=REFERENCE)
        assert not opened["resumed"]
        texts = await agent.read_all()
        assert TRUE_WORDS in " ".join(texts[agent.documents["Transport Statement.pdf"]].split())
        assert agent.steps[-3:] == ["questions", "pages", "judge"]
        with pytest.raises(Refused, match="No finding is verified yet"):
            await agent.on("finish_review")
        good = await handed_in(agent)
        found = await agent.on("search_policy", query="how much cycle parking for dwellings")
        assert found["effective_date"] == "2024-03-14"
        read = await agent.on("read_policy", policy=found["results"][0]["policy"])
        assert read["results"][0]["text"].startswith(found["results"][0]["text"][:100])
        assert (await agent.on("calculate", expression="120 * 2"))["result"] == 240
        wanted = conclusion(good, letter=[{"text": FALSE_STATEMENT, "rests_on": ["F3"]}])
        drafted = await agent.on("draft_letter", conclusion=wanted)
        assert [one["id"] for one in drafted["left_out"]] == ["letter 1"]
        assert drafted["pages"] >= 1
        assert "cycle_parking/long_stay" not in drafted["open_questions"]
        assert "cycle_parking/quality" in drafted["open_questions"]
        assert "no cycle parking" in drafted["letter"]
        listed = everything.get("/api/v1/reviews?status=processing").json()["reviews"]
        assert [(one["application_ref"], one["model"]) for one in listed] == [(REFERENCE, "Test Desktop 1.2")]
        done = await agent.on("finish_review", conclusion=conclusion(good))
        with pytest.raises(Refused, match="has ended: it is completed"):
            await agent.on("submit_findings", findings=[finding("D1", 1, TRUE_WORDS, "Too late.")])
        status = await agent.on("review_status")
        assert status["review_status"] == "completed"
        by_id = await agent.call("review_status", review=done["review_id"])
        assert [one["format"] for one in by_id["files"]] == [one["format"] for one in done["files"]]
        assert max(agent.sizes.values()) < 62_500
    _check_result(everything, done["review_id"])


def _check_result(everything: Running, review_id: str) -> None:
    review = everything.get(f"/api/v1/reviews/{review_id}").json()
    assert (review["status"], review["metadata"]["model"]) == ("completed", "Test Desktop 1.2")
    quality = review["metadata"]["quality"]
    assert (quality["submitted"], quality["verified"], quality["corrected"], quality["dropped"]) == (3, 2, 1, 1)
    assert review["metadata"]["phase_seconds"]["analysing_application"] > 0
    judged = {aspect["id"]: aspect for aspect in review["review"]["aspects"]}
    assert "The houses have no cycle parking." in [one["text"] for one in judged["cycle_parking"]["findings"]]
    outputs = [httpx.get(f"{everything.url()}/api/v1/reviews/{review_id}").text]
    for name, says in {"pdf": "no cycle parking", "letter": "The houses are built without any cycle parking"}.items():
        pdf = everything.get(f"/api/v1/reviews/{review_id}/download?format={name}")
        assert pdf.content.startswith(b"%PDF")
        outputs.append(words_of(pdf.content))
        assert says in outputs[-1]
    outputs += [
        everything.get(f"/api/v1/reviews/{review_id}/download?format=markdown").text,
        everything.get(f"/reviews/{review_id}").text,
    ]
    for text in outputs:
        assert "heated" not in text
        assert "40 m away" not in text
    for page in (f"/reviews/{review_id}", "/reviews"):
        assert "Test Desktop 1.2" in everything.get(page).text


async def test_two_agents_on_one_review_get_a_clear_answer(everything: Running) -> None:
    url = everything.url("REVIEWER")
    async with over_http(url, "First") as first, over_http(url, "Second", mode="legacy") as second:
        await first.open(application_ref=SMALL)
        with pytest.raises(Refused, match=r"First 1\.2 leads review .* take_over=true") as refused:
            await second.open(application_ref=SMALL)
        assert refused.value.code == "review_led_by_another"
        listed = (await second.call("review_status"))["reviews"]
        assert [(one["application_ref"], one["led_by"]) for one in listed] == [(SMALL, "First 1.2")]
        resumed = await second.open(application_ref=SMALL, take_over=True)
        assert resumed["resumed"]
        with pytest.raises(Refused, match=r"Second 1\.2 has taken it over"):
            await first.on("read_next")
        assert posted(everything, "", {"application_ref": SMALL}) == 409
        assert (await second.on("cancel_review"))["review_status"] == "cancelled"
        assert (await second.on("read_next"))["step"] == "ended"


async def test_a_review_that_a_person_cancels_ends_for_its_agent(everything: Running) -> None:
    async with over_http(everything.url("REVIEWER")) as agent:
        await agent.open(application_ref=SMALL)
        review_id = agent.review.partition("-")[0]
        assert posted(everything, f"/{review_id}/cancel") == 200
        assert (await agent.on("read_next"))["step"] == "ended"
        with pytest.raises(Refused, match="it is cancelled"):
            await agent.on("search_documents", query="cycle parking")


async def test_a_review_of_trigpoints_own_cannot_be_led(everything: Running) -> None:
    review_id = submitted(everything, "25/02034/F")
    async with over_http(everything.url("REVIEWER")) as agent:
        with pytest.raises(Refused, match="judged by Trigpoint itself"):
            await agent.open(application_ref="25/02034/F", take_over=True)
    posted(everything, f"/{review_id}/cancel")


async def test_an_unknown_application_ends_with_the_register_s_words(everything: Running) -> None:
    async with over_http(everything.url("REVIEWER")) as agent:
        await agent.open(application_ref="25/99999/F")
        await agent.read_all()
        status = await agent.on("review_status")
    assert status["review_status"] == "failed"
    assert "Application not found" in status["error"]["message"]


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({}, "Name what to review"),
        ({"application_ref": "nonsense"}, "Invalid application reference"),
        ({"folder": "/etc"}, "start it with --root"),
        ({"folder": "relative"}, "Folder not found"),
        ({"review": "rev_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "No review found"),
        ({"application_ref": SMALL, "authority": "atlantis"}, "atlantis"),
        ({"application_ref": SMALL, "proposal": "A barn"}, "go with folder"),
    ],
)
async def test_what_cannot_be_opened_is_refused_with_the_way_out(everything: Running, what: dict, says: str) -> None:
    async with over_http(everything.url("REVIEWER")) as agent:
        with pytest.raises(Refused, match=says):
            await agent.open(**what)


async def test_prompts_and_annotations_tell_the_truth(everything: Running) -> None:
    async with over_http(everything.url("REVIEWER")) as agent:
        prompts = {one.name: one for one in (await agent.client.list_prompts()).prompts}
        assert prompts["review_application"].title == "Review planning application …"
        filled = await agent.client.get_prompt("review_application", {"reference": "25/01178/REM"})
        text = filled.messages[0].content.text
        with pytest.raises(Exception, match="needs reference"):
            await agent.client.get_prompt("review_application", {})
        tools = {one.name: one.annotations for one in (await agent.client.list_tools()).tools}
    assert text.startswith("Review planning application 25/01178/REM")
    assert "finish_review" in text
    reading = {name for name, one in tools.items() if one.read_only_hint}
    assert reading == {"review_status", "read_policy", "calculate"}
    assert {name for name, one in tools.items() if one.destructive_hint} == {"cancel_review"}
    assert {name for name, one in tools.items() if one.open_world_hint} == {"open_review"}
