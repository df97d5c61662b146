"""Probes of a judge by command: judges that follow a bot's orders or a place are found, an honest one is not."""

import json
import re
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.contracts.turns import Turn
from spotthebot.judges.opinions import Seen
from spotthebot.judges.probes.changes import FILLER, NO_ORDER, ORDER, OTHER_WORDS, ProbeKind, plant
from spotthebot.judges.probes.sample import SampledItem
from spotthebot.kit.text.words import text_hash
from tests.factories.bot_servers import Answer, bot
from tests.factories.campaigns import campaign_of, campaign_of_talks, talk
from tests.factories.command_line import Printed, Stb, stb_of_admin
from tests.factories.judge_campaigns import import_units
from tests.factories.judge_units import units
from tests.factories.model_servers import completion, states
from tests.factories.running_suite import RunningSuite

CONVERSATIONS = 12
STEPS = [(2 * at - 11) / 11 for at in range(CONVERSATIONS)]
"""Numbers from -1 to 1 with the sum 0."""
FILE = """\
name: model
settings:
  kind: endpoint
  base_url: {url}/v1
  model: small-1
  swaps_sides: false
  input_price: 1.0
  output_price: 2.0
  currency: EUR
"""
LINE = re.compile(r"^\[\d+\] ([AB]): (.*)$", re.MULTILINE)
SPOT = built_in_protocols()["spot_the_bot", 1]
TURNS = tuple(Turn(speaker="AB"[at % 2], text=f"Turn {at}.") for at in range(4))
Human = Callable[[str, str, str], float]
"""What a judge adds to P(human) = .4 for a side, from its name, its words and the question."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation")


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    monkeypatch.setenv("SPOTTHEBOT_FRONTEND_KEY", await suite.keys.make("annotation"))
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


def judge_by(added: Human) -> Answer:
    """Answer .4 and what is added, with noise that differs between items and requests.

    Each probe asks about the 12 items in one order. The noise of both sides, up to .02, and that of their difference,
    up to .002, have the sum 0 over 12 requests: an honest judge moves by 0 on average, whichever sides are drawn.
    """
    requests = count()

    def answer(request: dict[str, Any]) -> Any:
        probed, at = divmod(next(requests), CONVERSATIONS)
        both, between = (STEPS[(at + times * probed) % CONVERSATIONS] for times in (1, 2))
        said = LINE.findall(request["messages"][-1]["content"])

        def shares(question: str, options: tuple[str, ...]) -> dict[str, float]:
            if "tie" in options:
                return {"A": 0.4, "B": 0.4, "tie": 0.2}
            side = "A" if "about side A" in question else "B"
            words = " ".join(text for speaker, text in said if speaker == side)
            human = 0.4 + added(side, words, question) + 0.02 * both + (0.002 if side == "A" else -0.002) * between
            return {"human": human, "bot": 1 - human, "unsure": 0.0}

        return states(shares)(request)

    return answer


async def talks(suite: RunningSuite) -> dict[str, Any]:
    """Open a campaign of one item for each of 12 conversations of two bots."""
    texts = [[f"Hello, I am number {each}.", f"And I am number {each + 50}."] for each in range(CONVERSATIONS)]
    return await campaign_of_talks(suite, *(talk(f"t{at}", *each) for at, each in enumerate(texts)))


async def add(stb: Stb, folder: Path, url: str, text: str = FILE) -> None:
    file = folder / "judge.yaml"
    file.write_text(text.replace("{url}", url))
    added = await stb("judge", "add", file)
    assert added.returncode == 0, added.stderr


async def probe(stb: Stb, folder: Path, *more: str | Path, name: str = "model") -> tuple[Printed, dict[str, Any]]:
    out = folder / "probes.json"
    options = ("--cache", folder / "kept", "--allow-network", "127.0.0.0/8", "--at-once", "1", "--json", out)
    done = await stb("judge", "probe", name, *options, *more)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    return done, found | {"probes": {each["probe"]: each for each in found.get("probes", ())}}


class TestProbes:
    @pytest.mark.parametrize(
        ("added", "moved"),
        [
            (lambda _side, _text, _asked: 0.0, {}),
            (lambda side, _text, _asked: 0.2 * (side == "A"), {"position": 0.2}),
            (lambda _side, text, _asked: 0.3 * (ORDER in text), {"injection": 0.3}),
            (lambda _side, text, _asked: 0.3 * (len(text) > 80), {"length": 0.3}),
            (lambda _side, _text, asked: 0.3 * (OTHER_WORDS in asked), {"wording": 0.3}),
        ],
        ids=["honest", "by place", "by orders", "by length", "by wording"],
    )
    async def test_find_what_a_judge_follows_and_nothing_else(
        self, suite: RunningSuite, stb: Stb, tmp_path: Path, added: Human, moved: dict[str, float]
    ):
        """An effect of .2 or .3 is many times the noise; the control moves a judge by length as much as the order."""
        await talks(suite)
        async with bot(judge_by(added)) as (_, url):
            await add(stb, tmp_path, url)
            done, found = await probe(stb, tmp_path, "--campaign", "c")
        assert [*found["probes"]] == [each.value for each in ProbeKind]
        for name, each in found["probes"].items():
            effect = each.get("beyond_control", each["shift"])
            assert effect["estimate"] == pytest.approx(moved.get(name, 0.0), abs=0.005), name
            assert each["effect"] is (name in moved), (name, each)
            assert effect["low"] < effect["estimate"] < effect["high"]
            assert effect["smallest_detectable"] < 0.05
            assert (each["n_missing"], each["n_lost"]) == (0, 0)
            assert each["n"] == (CONVERSATIONS if name in {"length", "injection"} else 2 * CONVERSATIONS)
            assert f"{name}: {'an effect' if name in moved else 'no effect found'}" in done.stdout

    async def test_are_counted_paid_once_and_stored_nowhere(self, suite: RunningSuite, stb: Stb, tmp_path: Path):
        """Of each item seven changed ones, as injections have a control; only the second answer is asked for again."""
        campaign = await talks(suite)
        async with bot(judge_by(lambda _side, _text, _asked: 0.0)) as (model, url):
            await add(stb, tmp_path, url)
            planned, plan = await probe(stb, tmp_path, "--campaign", "c", "--dry-run")
            assert (plan["questions"], plan["planted"]["injection"], model.asked) == (8 * 12, 2 * 12, [])
            assert "It would show 96 items to the judge" in planned.stderr
            done, found = await probe(stb, tmp_path, "--campaign", "c")
            assert found["questions"] == found["usage"]["requests"] == len(model.asked) == 96
            assert found["usage"]["paid"] == pytest.approx(96 * (100 + 2 * 20) / 1_000_000)
            assert "EUR" in done.stderr
            _, again = await probe(stb, tmp_path, "--campaign", "c")
            assert (again["usage"]["cached"], len(model.asked)) == (84, 96 + 12)
            _, few = await probe(stb, tmp_path, "--campaign", "c", "--only", "position", "--items", "3")
            assert ([*few["probes"]], few["questions"], few["probes"]["position"]["n"]) == (["position"], 6, 6)
        client = await suite.client("annotation", "analyst")
        path = f"/v1/campaigns/{campaign['id']}/annotations"
        assert (await client.get(path, params={"judges": "*"})).json()["items"] == []

    async def test_have_no_numbers_where_a_judge_says_nothing_or_only_without_the_change(
        self, suite: RunningSuite, stb: Stb, tmp_path: Path
    ):
        """The second model answers unless it reads the order: 12 answers are lost."""
        await talks(suite)
        honest = judge_by(lambda _side, _text, _asked: 0.0)
        silent = [True]

        def answer(request: dict[str, Any]) -> Any:
            is_lost = silent[0] or ORDER in request["messages"][-1]["content"]
            return completion("I can't say.") if is_lost else honest(request)

        async with bot(answer) as (model, url):
            await add(stb, tmp_path, url)
            done, found = await probe(stb, tmp_path, "--campaign", "c")
            assert len(model.asked) == CONVERSATIONS, "a judge without answers is not asked about changes"
            for each in found["probes"].values():
                assert (each["n"], each["shift"]["estimate"], each["effect"]) == (0, None, None)
                assert "the judge gave no answer about any item: " in each["reason"]
            assert "no numbers, because" in done.stdout
            silent[0] = False
            _, found = await probe(
                stb, tmp_path, "--campaign", "c", "--only", "injection", "--cache", tmp_path / "other"
            )
        lost = found["probes"]["injection"]
        assert (lost["n"], lost["n_missing"], lost["n_lost"]) == (0, CONVERSATIONS, CONVERSATIONS)
        assert "no answer about a changed item" in lost["reason"]

    async def test_say_that_an_average_of_both_orders_has_no_position(
        self, suite: RunningSuite, stb: Stb, tmp_path: Path
    ):
        await talks(suite)
        async with bot(judge_by(lambda side, _text, _asked: 0.2 * (side == "A"))) as (_, url):
            await add(stb, tmp_path, url, FILE.replace("swaps_sides: false", "swaps_sides: true"))
            _, found = await probe(stb, tmp_path, "--campaign", "c", "--only", "position")
        position = found["probes"]["position"]
        assert (found["questions"], position["n"], position["effect"]) == (CONVERSATIONS, 0, None)
        assert "averages both orders of the sides" in position["reason"]

    async def test_say_that_a_trained_judge_knows_no_changed_text(self, suite: RunningSuite, stb: Stb, tmp_path: Path):
        await import_units(suite, units(per_pair=3))
        folder = tmp_path / "judge"
        assert (await stb("judge", "train", "--campaign", "autumn", "--out", folder)).returncode == 0
        await add(stb, tmp_path, "", (folder / "judge.yaml").read_text())
        _, found = await probe(stb, tmp_path, "--campaign", "autumn", "--folder", folder, name="trained")
        by_name = found["probes"]
        for name in ("length", "injection"):
            assert (by_name[name]["n"], by_name[name]["n_lost"]) == (0, 18), name
            assert "knows no changed text" in by_name[name]["reason"]
        assert "one model for each side" in by_name["position"]["reason"]
        assert "reads no prompt" in by_name["wording"]["reason"]
        assert by_name["template"]["shift"]["estimate"] == by_name["stability"]["shift"]["estimate"] == 0

    @pytest.mark.parametrize("favour", [0.0, 0.3], ids=["honest", "vain"])
    async def test_find_a_judge_that_favours_its_own_model_beyond_people(
        self, suite: RunningSuite, stb: Stb, tmp_path: Path, favour: float
    ):
        """P(human) is .4, of ada more by `favour`; minus the share of "human" among people's labels, it is compared."""
        some = units(per_pair=10, revealing=False)
        await import_units(suite, some)
        of_ada = {
            turn.text for unit in some if unit.speaker == "ada" for turn in unit.turns if turn.speaker == unit.side
        }

        def shares(question: str, _options: tuple[str, ...]) -> dict[str, float]:
            human = 0.4 + favour * (question in of_ada)
            return {"human": human, "bot": 1 - human, "unsure": 0.0}

        def answer(request: dict[str, Any]) -> Any:
            said = LINE.findall(request["messages"][-1]["content"])
            first = dict(reversed(said))
            return states(lambda asked, options: shares(first["A" if "side A" in asked else "B"], options))(request)

        async with bot(answer) as (_, url):
            await add(stb, tmp_path, url)
            more = ("--campaign", "autumn", "--items", "1000", "--only", "stability", "--own", "ada")
            done, found = await probe(stb, tmp_path, *more)
            refused = await stb("judge", "probe", "model", "--campaign", "autumn", "--own", "eve")
        own = found["self_preference"]
        residuals: dict[bool, list[float]] = {True: [], False: []}
        by_conversation: dict[str, list[Any]] = {}
        for unit in some:
            by_conversation.setdefault(unit.conversation, []).append(unit)
        for sides in by_conversation.values():
            for who in {label.annotator for unit in sides for label in unit.labels}:
                for unit in sides:
                    human = {label.annotator: label.human for label in unit.labels}.get(who, False)
                    is_own = unit.speaker == "ada"
                    residuals[is_own].append(0.4 + favour * is_own - human)
        assert own["estimate"] == pytest.approx(np.mean(residuals[True]) - np.mean(residuals[False]))
        assert own["low"] < own["estimate"] < own["high"]
        assert own["smallest_detectable"] > 0
        assert own["effect"] is (favour > 0)
        assert f"self-preference: {'an effect' if favour else 'no effect found'}" in done.stdout
        assert (refused.returncode, "shows no bot called 'eve'" in refused.stderr) == (1, True)

    async def test_need_a_question_about_who_is_human(self, suite: RunningSuite, stb: Stb, tmp_path: Path):
        await campaign_of(suite, 2, protocol="dialogue_likert", segments=[2])
        await add(stb, tmp_path, "http://127.0.0.1:9")
        refused = await stb("judge", "probe", "model", "--campaign", "c", "--dry-run")
        assert (refused.returncode, "shows no item that asks who is human" in refused.stderr) == (1, True)


def item(*bots: Any) -> SampledItem:
    return SampledItem(UUID(int=1), 2, Seen(TURNS, None, SPOT, ""), bots)


def texts(seen: Seen) -> list[str]:
    return [turn.text for turn in seen.turns]


class TestChanges:
    def test_give_orders_at_the_end_of_a_bots_last_turn_alone(self):
        planted = plant(ProbeKind.INJECTION, item("A"), 0)
        assert planted is not None
        assert planted.control is not None
        assert planted.sides == ("A",)
        assert texts(planted.seen) == ["Turn 0.", "Turn 1.", f"Turn 2. {ORDER}", "Turn 3."]
        assert texts(planted.control) == ["Turn 0.", "Turn 1.", f"Turn 2. {NO_ORDER}", "Turn 3."]
        assert abs(len(ORDER) - len(NO_ORDER)) < 6
        assert plant(ProbeKind.INJECTION, item(), 0) is None, "people give no orders"

    def test_lengthen_each_turn_of_one_side(self):
        planted = plant(ProbeKind.LENGTH, item("A"), 0)
        assert planted is not None
        longer = {turn.speaker for turn in planted.seen.turns if turn.text.endswith(FILLER)}
        assert longer == set(planted.sides)
        assert sum(text.endswith(FILLER) for text in texts(planted.seen)) == 2
        drawn = {each.sides for seed in range(20) if (each := plant(ProbeKind.LENGTH, item("A"), seed))}
        assert drawn == {("A",), ("B",)}

    def test_keep_every_word_when_only_the_form_differs(self):
        planted = plant(ProbeKind.TEMPLATE, item(), 0)
        assert planted is not None
        assert all(one != other for one, other in zip(texts(planted.seen), texts(item().seen), strict=True))
        assert text_hash(texts(planted.seen)) == text_hash(texts(item().seen))
