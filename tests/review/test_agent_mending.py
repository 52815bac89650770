"""The loop of judging, sending back, mending and checking: what the model is told, and where a finding may end."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from messages_server import Answer
from review_samples import evidence_of_text
from scripted_model import ScriptedModel, hand_in, opinions, pass_of, supported, text_of, use_tool
from test_agent import TEXT, finding, judge, judged, use

from trigpoint.review.agent.answers import MOST_FACTS, MOST_FINDINGS, Judged, ReadFacts
from trigpoint.review.agent.instructions import JUDGE, READ
from trigpoint.review.agent.lookups import MOST_LOOKUPS
from trigpoint.review.findings import Finding
from trigpoint.review.result import Judgement

__all__ = ["use"]  # the fixture

Use = Callable[..., Any]
TWO_WIDTHS = (
    f"{TEXT}\f2 Drawings\n\nThe plans show the path. It is drawn with a width of 2.0 m along the whole of Mill Lane.\n"
)
BOTH = [
    {"document": "D1", "page": 1, "words": "shared path along Mill Lane will be 2.5 m wide"},
    {"document": "D1", "page": 2, "words": "It is drawn with a width of 2.0 m"},
]
CONTRADICTION = finding(
    question=None, requirement="Widths that agree", outcome="contradicted", evidence=BOTH, recommendation=None,
    statement="The shared path along Mill Lane is 2.5 m wide in the text and drawn with 2.0 m.",
)  # fmt: skip
NO_SUCH_POLICY = [{"policy": "P1", "words": "widths shall be painted on the wall"}]


def by_model(judgement: Judgement) -> list[Finding]:
    return [one for aspect in judgement.aspects for one in aspect.findings if "-" in one.check]


def opinion(support: str, **more: Any) -> Callable[[dict[str, Any]], Answer]:
    """Answer the same of every claim that is shown."""

    def answer(request: dict[str, Any]) -> Answer:
        why = {} if support == "supported" else {"why": "the words show less"}
        return hand_in(opinions(request, support=support, **why, **more))

    return answer


async def test_a_contradiction_survives_the_whole_loop_without_the_policy_that_did_not_fit(use: Use) -> None:
    """Handed in with policy words that are nowhere, found overstated, mended, checked again, published."""
    mended = CONTRADICTION | {"id": "F1", "statement": "The path is 2.5 m wide on one page and 2.0 m on another.",
                              "policy": NO_SUCH_POLICY}  # fmt: skip
    model = ScriptedModel(
        judge=judged(CONTRADICTION | {"policy": NO_SUCH_POLICY}),
        check=[opinion("overstated"), supported],
        mend={"findings": [mended]},
    )
    with use(model) as (_, settings):
        judging = await judge(evidence_of_text(TWO_WIDTHS), settings)
    [kept] = by_model(judging.judgement)
    assert (kept.outcome, kept.policy, len(kept.evidence)) == ("contradicted", (), 2)
    assert (model.asked["judge"], model.asked["check"], model.asked["mend"]) == (2, 2, 1)


async def test_a_finding_that_was_returned_in_judging_is_sent_back_again_by_the_second_reader(use: Use) -> None:
    wrong = finding(statement="The shared path along Mill Lane is 2.2 m wide.")
    model = ScriptedModel(
        judge=[judged(wrong), judged(finding(id="F1"))],
        check=[opinion("overstated"), supported],
        mend={"findings": [finding(id="F1", statement="The shared path along Mill Lane will be 2.5 m wide.")]},
    )
    with use(model) as (_, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    assert [one.text for one in by_model(judging.judgement)] == ["The shared path along Mill Lane will be 2.5 m wide."]


async def test_what_is_neither_mended_nor_withdrawn_is_kept_without_the_part_that_failed(use: Use) -> None:
    cited = finding(policy=NO_SUCH_POLICY)
    with use(ScriptedModel(judge=[judged(cited), {"findings": []}])) as (_, settings):
        kept = by_model((await judge(evidence_of_text(TEXT), settings)).judgement)
    assert [one.text for one in kept] == [finding()["statement"]]
    assert "painted" not in kept[0].model_dump_json()
    with use(ScriptedModel(judge=[judged(cited), {"findings": [], "give_up": ["F1"]}])) as (_, settings):
        judgement = (await judge(evidence_of_text(TEXT), settings)).judgement
    assert by_model(judgement) == []
    assert judgement.quality is not None
    assert [(one.by, one.id) for one in judgement.quality.left_out] == [("judge", "F1")]


async def test_what_stays_overstated_is_published_in_the_second_readers_words_or_not_at_all(use: Use) -> None:
    less = "The shared path along Mill Lane will be 2.5 m wide."
    for instead, texts in ((less, [less]), ("It will be 7.7 m wide.", [])):
        model = ScriptedModel(
            judge=judged(), check=opinion("overstated", instead=instead), mend=judged(finding(id="F1"))
        )
        with use(model) as (_, settings):
            judgement = (await judge(evidence_of_text(TEXT), settings)).judgement
        assert [one.text for one in by_model(judgement)] == texts
        assert judgement.quality is not None
        assert (judgement.quality.reworded, judgement.quality.dropped) == (len(texts), 1 - len(texts))


async def test_what_the_second_reader_can_put_in_words_that_hold_is_not_sent_back(use: Use) -> None:
    less = "The shared path along Mill Lane will be 2.5 m wide."
    model = ScriptedModel(judge=judged(), check=opinion("overstated", instead=less, outcome="failed"))
    with use(model) as (_, settings):
        judgement = (await judge(evidence_of_text(TEXT), settings)).judgement
    assert [(one.text, one.outcome) for one in by_model(judgement)] == [(less, "failed")]
    assert (model.asked["check"], model.asked["mend"]) == (1, 0)


async def test_a_finding_on_an_aspect_of_another_step_is_named_among_those_left_out(use: Use) -> None:
    strange = finding(aspect="placemaking", question=None, requirement="Trees")
    with use(ScriptedModel(judge=judged(finding(), strange))) as (_, settings):
        judgement = (await judge(evidence_of_text(TEXT), settings)).judgement
    assert judgement.quality is not None
    [left_out] = judgement.quality.left_out
    assert (left_out.aspect, left_out.why) == ("placemaking", "an aspect that is judged in another step")


async def test_more_findings_than_one_call_takes_are_all_mended(use: Use) -> None:
    sentences = [f"The proposed path number {n} along Lane {n} will be {n}.5 m wide." for n in range(1, 31)]
    given = [
        finding(
            question=None, requirement="Wide paths", statement=f"Path number {n} along Lane {n} is {n}.5 m wide, a shame.",
            evidence=[{"document": "D1", "page": 1, "words": f"path number {n} along Lane {n} will be {n}.5 m wide"}],
            recommendation=None,
        )
        for n in range(1, 31)
    ]  # fmt: skip

    def mend(request: dict[str, Any]) -> Answer:
        names = re.findall(r"^(F\d+): ", text_of(request), re.MULTILINE)
        mended = [given[int(name[1:]) - 1] | {"id": name} for name in names]
        return hand_in({"findings": [one | {"statement": one["statement"].replace(", a shame", "")} for one in mended]})

    second = [opinion("overstated")] * 3 + [supported] * 3
    model = ScriptedModel(judge=judged(*given), check=second, mend=mend)
    with use(model, review_model_concurrency=1) as (_, settings):
        judging = await judge(evidence_of_text("\n\n".join(sentences)), settings)
    assert len(by_model(judging.judgement)) == 30
    assert model.asked["mend"] == 3


async def test_the_mender_sees_labels_and_policy_text_and_can_look_up(use: Use) -> None:
    cited = finding(policy=[{"policy": "P1", "words": "shared"}], statement="The path is much too narrow at 2.5 m.")
    looks = [
        lambda r: use_tool("search_documents", {"query": "street lighting"}),
        lambda r: hand_in({"findings": [finding(id="F1")]}),
    ]
    model = ScriptedModel(
        judge=judged(cited), check=[opinion("overstated", instead="It is 9.9 m."), supported], mend=looks
    )
    with use(model) as (server, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    first, second = (text_of(one) for one in server.requests if pass_of(one) == "mend")
    assert '"policy":"P1"' in first
    assert "P1 = " in first
    assert "The second reader would say: It is 9.9 m." in first
    assert "Street lighting will be provided" in second
    assert [one.text for one in by_model(judging.judgement)] == [finding()["statement"]]


async def test_a_suspected_discrepancy_is_shown_once_in_the_group_of_its_aspect(use: Use) -> None:
    text = "A total of 144 cycle parking spaces is proposed, comprising 127 spaces in racks and 7 spaces on stands.\n"
    chosen = ("cycle_parking", "cycle_routes", "permeability", "trip_generation", "public_transport")
    with use(ScriptedModel()) as (server, settings):
        await judge(evidence_of_text(text), settings, aspects=chosen)
    showing = [text_of(one) for one in server.requests if pass_of(one) == "judge" and "C1: " in text_of(one)]
    assert len(showing) == 1
    assert "## Aspect cycle_parking" in showing[0]


async def test_a_claim_of_the_applicant_is_shown_once_to_the_group_that_its_page_is_about(use: Use) -> None:
    claimed = "All of this is in full accordance with the London Plan."
    text = (
        f"Secure cycle parking for 250 cycles will be provided in stores.\n\n{claimed}\n\nThe stores will be covered.\n"
    )
    facts = [{"topic": topic, "status": "proposed", "quote": {"document": "D1", "page": 1, "words": words}}
             for topic, words in (("cycle_parking.total", "Secure cycle parking for 250 cycles"),
                                  ("compliance.claim", claimed))]  # fmt: skip
    with use(ScriptedModel(read={"facts": facts})) as (server, settings):
        await judge(evidence_of_text(text), settings, aspects=("travel_planning", "cycle_parking", "trip_generation"))
    judging = [text_of(one) for one in server.requests if pass_of(one) == "judge"]
    assert len(judging) > 1
    showing = [one for one in judging if claimed in one]
    assert len(showing) == 1
    assert "## Aspect cycle_parking" in showing[0]


async def test_the_second_reader_sees_lack_search_siblings_and_the_policy_passage(use: Use) -> None:
    text = f"{TEXT}\f2 Conditions\n\nCondition 4: Cycle stores shall be locked.\n"
    lack = {"outcome": "partly", "lacking": "We did not find lighting of the path in the conditions.",
            "looked_for": ["lighting of the path"], "looked_in": [{"document": "D1", "first": 2, "last": 2}]}  # fmt: skip
    other = finding(statement="The path along Mill Lane is narrow at 2.5 m.", outcome="met", recommendation=None)
    with use(ScriptedModel(judge=judged(finding(**lack), other))) as (server, settings):
        await judge(evidence_of_text(text), settings)
    checking = next(text_of(one) for one in server.requests if pass_of(one) == "check")
    assert (
        "   lacking: We did not find lighting of the path in the conditions. (looked for “lighting of the path” in "
        in checking
    )
    assert ", page 2; nearest by words: " in checking
    assert "   (on the same question, F2: The path along Mill Lane is narrow at 2.5 m." in checking
    assert "<<< policies that they cite" in checking


async def test_the_second_reader_sees_what_it_means_by_heading_and_statement_before(use: Use) -> None:
    with use(ScriptedModel(judge=judged(CONTRADICTION))) as (server, settings):
        await judge(evidence_of_text(TWO_WIDTHS), settings)
    checking = next(text_of(one) for one in server.requests if pass_of(one) == "check")
    assert "“It is drawn with a width of 2.0 m” (in the statement “It is drawn with a width of 2.0 m along" in checking
    assert "the whole of Mill Lane.”, under “Drawings”, after “The plans show the path.”)" in checking


def test_the_limits_that_the_model_is_told_are_those_that_are_enforced() -> None:
    def limit(model: type[Any], field: str) -> int:
        return int(model.model_json_schema()["properties"][field]["maxItems"])

    assert f"at most {limit(ReadFacts, 'facts')} facts" in READ
    assert limit(ReadFacts, "facts") == MOST_FACTS
    assert f"your findings, at most {limit(Judged, 'findings')}" in JUDGE.replace("\n", " ")
    assert limit(Judged, "findings") == MOST_FINDINGS
    assert f"at most {MOST_LOOKUPS} times" in JUDGE


async def test_the_questions_say_what_answers_them(use: Use) -> None:
    with use(ScriptedModel()) as (server, settings):
        await judge(evidence_of_text(TEXT), settings, aspects=("public_transport", "trip_generation", "cycle_parking"))
    told = "\n".join(text_of(one) for one in server.requests if pass_of(one) == "judge")
    assert (
        "- bus_distance (essential): A bus stop within 400 m, as Active Travel England's assessment toolkit has it. What exists already answers it."
        in told
    )
    assert re.search(r"- forecast .*What the applicant forecasts answers it, told as a forecast\.", told)
    assert not re.search(r"- long_stay .*What exists", told)
