"""A judge on a whole campaign by command: added, run, interrupted, run again, and paid once."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.factories.bot_servers import bot
from tests.factories.campaigns import campaign_of
from tests.factories.command_line import Printed, Stb, stb_of_admin
from tests.factories.model_servers import Shares, completion, states
from tests.factories.running_suite import RunningSuite

LOOPBACK = ("--allow-network", "127.0.0.0/8")
FILE = """\
name: model
description: A small model.
settings:
  kind: endpoint
  base_url: {url}/v1
  model: small-1
  key_variable: MODEL_KEY
  answer_seconds: 5
  input_price: 1.0
  output_price: 2.0
  currency: EUR
"""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation")


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    monkeypatch.setenv("SPOTTHEBOT_FRONTEND_KEY", await suite.keys.make("annotation"))
    monkeypatch.setenv("MODEL_KEY", "sk-very-secret")
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


def shares_of(human: float) -> Shares:
    return lambda _text, options: {
        option: human if number == 0 else (1 - human) / (len(options) - 1) for number, option in enumerate(options)
    }


async def add(stb: Stb, folder: Path, url: str, text: str = FILE) -> Printed:
    file = folder / "judge.yaml"
    file.write_text(text.replace("{url}", url))
    return await stb("judge", "add", file)


async def run(stb: Stb, folder: Path, name: str = "model", *more: str) -> tuple[Printed, dict[str, Any]]:
    out = folder / "run.json"
    named = ("judge", "run", name, "--campaign", "c", "--cache", folder / "kept", "--json", out)
    done = await stb(*named, *LOOPBACK, *more)
    return done, json.loads(out.read_text()) if done.returncode == 0 else {}


async def annotations(suite: RunningSuite, campaign: dict[str, Any], judge: str) -> list[dict[str, Any]]:
    client = await suite.client("annotation", "analyst")
    path = f"/v1/campaigns/{campaign['id']}/annotations"
    return (await client.get(path, params={"judges": judge})).json()["items"]


class TestRuns:
    async def test_label_a_whole_campaign_once_and_count_the_cost(self, suite: RunningSuite, stb: Stb, tmp_path: Path):
        campaign = await campaign_of(suite, 4)
        async with bot(states(shares_of(0.7))) as (model, url):
            added = await add(stb, tmp_path, url)
            assert (added.returncode, "version 1" in added.stderr) == (0, True), added.stderr
            done, account = await run(stb, tmp_path)
            assert done.returncode == 0, done.stderr
            items = campaign["items"]
            assert (account["items"], account["packages"], account["missing"]) == (items, campaign["packages"], {})
            assert len(model.asked) == account["usage"]["requests"] == 2 * items
            # Of each request 100 tokens at 1 EUR and 20 at 2 EUR a million.
            assert account["usage"]["paid"] == pytest.approx(2 * items * (100 + 2 * 20) / 1_000_000)
            assert "EUR" in done.stderr
            again, account = await run(stb, tmp_path)
            assert (again.returncode, account["packages"], len(model.asked)) == (0, 0, 2 * items)
            assert "Nothing was left" in again.stderr
        found = await annotations(suite, campaign, "model")
        assert len(found) == items
        assert {each["judge"]["version"] for each in found} == {1}
        assert all(len(each["judge_labels"]["answers"]) == 5 for each in found)
        assert "sk-very-secret" not in done.stderr + json.dumps(found) + (await stb("judge", "show", "model")).stdout

    async def test_go_on_after_an_interruption_and_pay_nothing_twice(
        self, suite: RunningSuite, stb: Stb, tmp_path: Path
    ):
        """The model goes away within the second package: what it answered is kept, and nothing of it is submitted."""
        campaign = await campaign_of(suite, 4)
        answer, left = states(shares_of(0.6)), [5]

        def goes_away(request: dict[str, Any]) -> Any:
            left[0] -= 1
            return answer(request) if left[0] >= 0 else (401, {"error": "quota"})

        async with bot(goes_away) as (model, url):
            await add(stb, tmp_path, url)
            failed, _ = await run(stb, tmp_path, "model", "--at-once", "1")
            assert failed.returncode != 0
            assert "gave no answer about any of" in failed.stderr
            assert "401" in failed.stderr
            submitted = len(await annotations(suite, campaign, "model"))
            assert 0 < submitted < campaign["items"]
            left[0], before = 10_000, len(model.asked)
            done, account = await run(stb, tmp_path)
        assert done.returncode == 0, done.stderr
        assert account["items"] == campaign["items"] - submitted
        assert len(await annotations(suite, campaign, "model")) == campaign["items"]
        assert account["usage"]["cached"] + len(model.asked) - before == account["usage"]["requests"]

    async def test_keep_a_row_for_each_item_where_nine_of_ten_answers_are_missing(
        self, suite: RunningSuite, stb: Stb, tmp_path: Path
    ):
        campaign = await campaign_of(suite, 4)
        answer, count = states(shares_of(0.6)), [0]

        def seldom(request: dict[str, Any]) -> Any:
            count[0] += 1
            return answer(request) if count[0] % 10 == 0 else completion("Ich weiss es nicht.")

        async with bot(seldom) as (_, url):
            await add(stb, tmp_path, url, FILE.partition("  input_price")[0] + "  swaps_sides: false\n")
            done, account = await run(stb, tmp_path)
        assert done.returncode == 0, done.stderr
        found = await annotations(suite, campaign, "model")
        assert len(found) == campaign["items"]
        stated = [each for row in found for each in row["judge_labels"]["answers"]]
        missing = [each for each in stated if each["missing"] == "unparsable"]
        assert account["missing"] == {"unparsable": len(missing)}
        assert all(each["probabilities"] is None for each in missing)
        assert f"Missing: {len(missing)} of {len(stated)} answers" in done.stderr
        assert "Cost: unknown, since the judge has no input_price" in done.stderr

    async def test_repeat_simulated_labels_for_the_same_seed(self, suite: RunningSuite, stb: Stb, tmp_path: Path):
        campaign = await campaign_of(suite, 2, judge_annotations_per_segment=2)
        settings = "name: rule\nsettings: {kind: simulated, seed: 3, missing_share: 0.5}\n"
        await add(stb, tmp_path, "", settings)
        first, account = await run(stb, tmp_path, "rule")
        assert (first.returncode, account["kind"]) == (0, "simulated"), first.stderr
        assert "say nothing about people" in first.stderr
        assert "Tokens and cost: none, since a judge of the kind 'simulated' asks no endpoint" in first.stderr
        assert (await run(stb, tmp_path, "rule", "--repeat", "2"))[1]["items"] == campaign["items"]
        found = await annotations(suite, campaign, "rule")
        by_item: dict[tuple[str, int], list[Any]] = {}
        for each in found:
            by_item.setdefault((each["conversation_id"], each["exchanges"]), []).append(each["answer"])
        assert all(one == other for one, other in by_item.values())
        assert account["missing"]["unsuited"] > 0


class TestFaults:
    async def test_in_a_file_name_the_line_and_the_key(self, stb: Stb, tmp_path: Path):
        wrong = await add(stb, tmp_path, "https://x", FILE + "  key: sk-123\n")
        assert wrong.returncode == 2
        assert "key_variable" in wrong.stderr
        no_side = FILE + "  answers: log_probabilities\n  prompts:\n    spot_the_bot: {user: '{dialogue} {question}'}\n"
        sideless = await add(stb, tmp_path, "https://x", no_side)
        assert (sideless.returncode, "names no {side}" in sideless.stderr) == (2, True), sideless.stderr

    async def test_about_names_keys_and_networks_are_sentences(
        self, suite: RunningSuite, stb: Stb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        await campaign_of(suite, 1, segments=[1])
        none = await stb("judge", "show", "modle")
        assert (none.returncode, "There is no judge 'modle'" in none.stderr) == (1, True)
        await add(stb, tmp_path, "http://127.0.0.1:9")
        near = await stb("judge", "show", "modle")
        assert "did you mean 'model'?" in near.stderr
        version = await stb("judge", "show", "model", "--version", "7")
        assert "its versions are 1." in version.stderr
        listed = await stb("judge", "list")
        assert "small-1" in listed.stdout
        unencrypted = await stb("judge", "run", "model", "--campaign", "c")
        assert "is not encrypted" in unencrypted.stderr
        silent, _ = await run(stb, tmp_path)
        assert (silent.returncode, "gave no answer" in silent.stderr) == (1, True), silent.stderr
        monkeypatch.delenv("MODEL_KEY")
        keyless, _ = await run(stb, tmp_path)
        assert "MODEL_KEY, which is not set here" in keyless.stderr
        network = await stb("judge", "run", "model", "--campaign", "c", "--allow-network", "here")
        assert network.returncode == 2
