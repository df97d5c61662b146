"""Conversations of one text on their way from the collection to the results: nobody but analysts learns of it."""

import html
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.cli.results.ranking import print_ranking
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.local.progress import say_repeated_texts
from spotthebot.local.report.analysis_report import AnalysisReport
from spotthebot.local.report.files import write_report
from tests.factories.analyses import study
from tests.factories.annotating import WHOLE
from tests.factories.campaigns import ANNOTATION
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

TEXTS = {
    "first": "Hello there!",
    "same, as far as it is shown": "hello   there",
    "second": "Good evening.",
    "third": "Good evening, all.",
}
WORDS = "1 of 4 conversations of X and Y repeats another one's text: as clusters they count as 3."


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


def _conversation(key: str, text: str) -> dict[str, Any]:
    """Begin with a text that is the same for others; the second exchange is its own."""
    made = conversation(key, "X", "Y", exchanges=2)
    made["turns"][0]["text"], made["turns"][1]["text"] = text, "And to you"
    return made


async def _campaign(suite: RunningSuite) -> str:
    """Import a campaign that shows one exchange of each conversation, which ann and bob label."""
    collection = await import_conversations(suite, [_conversation(key, text) for key, text in TEXTS.items()])
    admin = await suite.client("annotation", "admin")
    body = {"mode": "import", "name": "s", "domain": "everyday", "collection_id": collection, "segments": [1]}
    campaign = await created(admin, "/v1/campaigns", body)
    path = f"/v1/campaigns/{campaign['id']}"
    await until(admin, path, "open")
    package = {"external_id": "p", "segments": [{"conversation": key, "exchanges": 1} for key in TEXTS]}
    await created(admin, f"{path}/packages", {"packages": [package]})
    rows = [
        ANNOTATION
        | {"external_id": f"{annotator}-{key}", "package": "p", "conversation": key, "exchanges": 1}
        | {"annotator": annotator, "answer": WHOLE | {"entity": {"A": "human", "B": "bot"}}}
        | {"started_at": None, "ended_at": None, "completion_code": None}
        for key in TEXTS
        for annotator in ("ann", "bob")
    ]
    await created(admin, f"{path}/annotations", {"annotations": rows})
    return path


async def test_are_one_conversation_to_results_which_say_so(suite: RunningSuite):
    path = await _campaign(suite)
    analyst = await suite.client("analytics", "analyst")
    found = (await analyst.get(f"{path}/ranking")).json()
    assert found["repeated_texts"] == [{"speakers": ["X", "Y"], "conversations": 4, "texts": 3}]
    assert found["counts"]["annotated_conversations"] == 4
    assert [bot["win_rate"]["uncertainty"]["conversations"] for bot in found["ranking"]["bots"]] == [3, 3]
    survival = (await analyst.get(f"{path}/survival")).json()["survival"]
    assert [each["conversations"] for each in survival["curves"][0]["uncertainty"]] == [3]
    async with signed_in(suite, "analyst") as visitor:
        shown = html.unescape((await visitor.get(f"{path.removeprefix('/v1')}/parts/claim")).text)
    assert WORDS in shown.replace("\u2068", "").replace("\u2069", "")


def test_are_named_by_a_report_and_by_the_ranking_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    drawn = study()
    same = {name: "one text" for name, sides in drawn.speakers.items() if sides == ("A", "B")}
    results = analyse(replace(drawn, texts=same), Parameters(filter="none", resamples=60))
    words = "3 of 4 conversations of A and B repeat another one's text: as clusters they count as 1."
    write_report(AnalysisReport(results, None), tmp_path / "report")
    report = html.unescape((tmp_path / "report" / "report.html").read_text())
    assert words in report
    assert "were one conversation to every interval and test" in report
    print_ranking(Console(), results)
    assert f"Warning: {words}" in " ".join(capsys.readouterr().err.split())


def test_repeated_texts_of_many_pairs_are_named_by_the_first_and_counted(capsys: pytest.CaptureFixture[str]):
    say_repeated_texts([RepeatedTexts(speakers=("A", f"B{at}"), conversations=9, texts=2) for at in range(7)])
    assert [line.split(":")[1] for line in capsys.readouterr().err.splitlines()] == [
        *(f" 7 of 9 conversations of A and B{at} repeat another one's text" for at in range(5)),
        " so do conversations of 2 more pairs.",
    ]


async def test_text_hashes_are_shown_to_readers_of_packages_and_to_no_frontend(suite: RunningSuite):
    path = await _campaign(suite)
    admin, frontend = await suite.client("annotation", "admin"), await suite.client("annotation", "annotation")
    (package,) = (await admin.get(f"{path}/packages")).json()["items"]
    hashes = [each["text_hash"] for each in package["segments"]]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3
    assert (await frontend.get(f"{path}/packages")).status_code == 403
