"""Erasure: the labels stay, the person is found nowhere."""

import asyncio
import hashlib
import json
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from spotthebot.annotation.erasure.domain import naming_pattern
from tests.annotation.erasure.own_words import WORDS, campaign_in_own_words, write_everywhere
from tests.factories.annotating import annotations_of, answer_items, ask, claim, rows, save, submit, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.held_texts import tables_that_hold
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

PERSON = "p-anna.7|x"
PAY: dict[str, Any] = {"pay_per_package": "1", "currency": "EUR"}
TERMS: dict[str, Any] = PAY | {
    "panel": {"kind": "generic", "parameter": "pid", "redirect_url": "https://panel.example.org/?p={annotator}"},
    "consent": "We keep your labels.",
}


async def annotator_of(suite: RunningSuite, campaign: dict[str, Any], name: str) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    found = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    (annotator,) = [each for each in found if each["annotator"] == name]
    return annotator


async def come(suite: RunningSuite, campaign: dict[str, Any], person: str) -> None:
    """Enter by a link for this person, and consent."""
    frontend = await suite.client("annotation", "annotation")
    link = await created(frontend, f"/v1/campaigns/{campaign['id']}/entry-links", {"annotator": person})
    parameters = {"entry": link["query"].removeprefix("entry="), "pid": person}
    assert (await frontend.post("/v1/entries", json={"parameters": parameters})).status_code == 200
    body = {"annotator": person, "sha256": campaign["consent_sha256"]}
    assert (await frontend.post(f"/v1/campaigns/{campaign['id']}/consents", json=body)).status_code == 200


async def decide(suite: RunningSuite, campaign: dict[str, Any], annotator: str, decision: str, **body: str) -> Any:
    admin = await suite.client("annotation", "admin")
    row_id = (await annotator_of(suite, campaign, annotator))["id"]
    answer = await admin.post(f"/v1/campaigns/{campaign['id']}/annotators/{row_id}/{decision}", json=body)
    assert answer.status_code in {200, 201}, answer.text
    return answer.json()


async def live(suite: RunningSuite, person: str) -> list[dict[str, Any]]:
    """Have a person leave their id wherever one can be; return the two campaigns of three in which they annotate."""
    made = [await campaign_of(suite, **TERMS, name=name, annotations_per_segment=1) for name in ("c1", "c2", "c3")]
    campaigns = made[:2]
    frontend = await suite.client("annotation", "annotation")
    with psycopg.connect(suite.database.owner["annotation"]) as connection:  # as if they had chatted
        connection.execute("UPDATE annotation.campaigns SET interactor_salt = 'salt'")
        chatted = hashlib.sha256(b"salt" + person.encode()).digest()
        connection.execute(
            "UPDATE annotation.shown_conversations SET interactor_sha256 = %s"
            " WHERE conversation_id IN (SELECT min(conversation_id::text)::uuid FROM annotation.shown_conversations)",
            [chatted],
        )
    for campaign in campaigns:
        await come(suite, campaign, person)
    path = f"/v1/campaigns/{campaigns[0]['id']}/assignments"
    for key in ("k", f"claim of {person}"):
        kept = await frontend.post(path, json={"annotator": person}, headers={"Idempotency-Key": key.replace(" ", "-")})
        assert kept.status_code == 201
    await work_through(suite, kept.json())
    path = f"/v1/assignments/{kept.json()['id']}/submit"
    again = await frontend.post(path, headers={"Idempotency-Key": "again"})
    assert quote(person) in again.json()["completion"]["url"]
    await claim(suite, campaigns[1], person)
    await decide(suite, campaigns[0], person, "bonuses", amount="2", reason=f"{person} found a bug")
    await decide(suite, campaigns[0], person, "block", reason=f"{person} is too fast")
    note = {"annotator": person, "note": f"I, {person}, read them all."}
    assert (await frontend.post(f"/v1/campaigns/{campaigns[0]['id']}/appeals", json=note)).status_code == 200
    await come(suite, campaigns[0], "other")
    await decide(suite, campaigns[0], "other", "block", reason=f"the same as '{person}'")
    return campaigns


class TestErasure:
    async def test_leaves_a_persons_id_nowhere_and_every_label_where_it_was(self, suite: RunningSuite):
        first, second = await live(suite, PERSON)
        assert tables_that_hold(suite, "annotation", PERSON) >= {
            *("annotators", "entries", "entry_links", "bonuses", "audit_log", "idempotency_keys"),
        }
        labels = [{**each, "annotator": None} for each in await annotations_of(suite, first)]
        assert labels
        mine = await annotator_of(suite, first, PERSON)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{first['id']}/annotators/{mine['id']}/erase"
        answers = [await admin.post(path) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].text == answers[1].text
        erased = answers[0].json()
        assert (erased["id"], erased["frontend"], erased["appeal"]) == (mine["id"], "erased", None)
        assert erased["packages"] == 1
        assert tables_that_hold(suite, "annotation", PERSON) == set()
        hashed = hashlib.sha256(b"salt" + PERSON.encode()).hexdigest()
        assert tables_that_hold(suite, "annotation", hashed) == set()
        assert [{**each, "annotator": None} for each in await annotations_of(suite, first)] == labels
        assert rows(suite, "SELECT sum(slots_left) FROM annotation.packages") == [(11,)]  # 12 but for the submitted one
        for campaign in (first, second):
            audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
            assert audit[-1]["action"] == "annotator.erased"
        audit = (await admin.get(f"/v1/campaigns/{first['id']}/audit")).json()["items"]
        assert {each["action"]: each["details"] for each in audit if each["annotator_id"] == mine["id"]} == {
            "annotator.bonus_granted": {"amount": "erased", "reason": "erased"},
            "annotator.blocked": {"reason": "erased"},
            "annotator.appealed": {"note": "erased"},
            "annotator.erased": {"submitted_texts": "erase"},
        }
        assert rows(suite, "SELECT count(completion_code) FROM annotation.assignments") == [(0,)]
        for kind, lines in (("approvals", 0), ("bonuses", 0), ("payments", 2)):
            file = await admin.get(f"/v1/campaigns/{first['id']}/payments/file?kind={kind}")
            assert file.text.count("\r\n") == lines  # the books have a header, and an amount for nobody known

    async def test_leaves_no_word_of_the_person_in_drafts_their_history_and_the_training(self, suite: RunningSuite):
        campaign = await campaign_in_own_words(suite)
        submitted = await write_everywhere(suite, campaign, PERSON)
        tables = {"annotations", "answers", "answer_revisions", "training_answers"}
        assert tables_that_hold(suite, "annotation", WORDS) == tables
        labels = [each["answer"]["entity"] for each in await annotations_of(suite, campaign)]
        await decide(suite, campaign, PERSON, "erase")
        assert tables_that_hold(suite, "annotation", WORDS) == set()
        found = [each["answer"] for each in await annotations_of(suite, campaign)]
        assert [each["entity"] for each in found] == labels
        assert {json.dumps([each["why"], each["about"]]) for each in found} == {
            '["erased", {"A": "erased", "B": "erased"}]'
        }
        assert len(found) == len(submitted["items"])
        query = "SELECT DISTINCT answer -> 'entity' FROM annotation.training_answers"
        assert rows(suite, query) == [({"A": "human", "B": "bot"},)]

    async def test_keeps_the_texts_of_annotations_where_the_request_says_so(self, suite: RunningSuite):
        campaign = await campaign_in_own_words(suite)
        await write_everywhere(suite, campaign, PERSON)
        admin = await suite.client("annotation", "admin")
        mine = await annotator_of(suite, campaign, PERSON)
        path = f"/v1/campaigns/{campaign['id']}/annotators/{mine['id']}/erase"
        assert (await admin.post(f"{path}?submitted_texts=keep")).status_code == 200
        assert tables_that_hold(suite, "annotation", WORDS) == {"annotations"}
        for _ in range(2):
            assert (await admin.post(path)).status_code == 200
            assert tables_that_hold(suite, "annotation", WORDS) == set()
        audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        assert [(each["action"], each["details"]) for each in audit if "eras" in each["action"]] == [
            ("annotator.erased", {"submitted_texts": "keep"}),
            ("annotator.texts_erased", {}),
        ]

    @pytest.mark.parametrize(
        ("person", "key"),
        [("reason", "bonus-reason-1"), ("fast", "bonus-fast-1"), ("1", "bonus-1-1"), (PERSON, "bonus-1")],
    )
    async def test_spares_other_campaigns_even_where_the_persons_id_is_a_word(
        self, suite: RunningSuite, person: str, key: str
    ):
        """All audit entries have the word `reason`, and a kept answer that is gone is a second bonus."""
        mine, others = [await campaign_of(suite, **PAY, name=name) for name in ("c1", "c2")]
        await claim(suite, mine, person)
        await claim(suite, others, "w")
        await decide(suite, others, "w", "block", reason="too fast, for no reason: 1 s")
        other = await annotator_of(suite, others, "w")
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{others['id']}/annotators/{other['id']}/bonuses"
        body, headers = {"amount": "1", "reason": "1 fast reason"}, {"Idempotency-Key": key}
        assert (await admin.post(path, json=body, headers=headers)).status_code == 201
        audit = (await admin.get(f"/v1/campaigns/{others['id']}/audit")).json()
        await decide(suite, mine, person, "erase")
        assert (await admin.get(f"/v1/campaigns/{others['id']}/audit")).json() == audit
        assert (await annotator_of(suite, others, "w")) == other
        assert (await admin.post(path, json=body, headers=headers)).status_code == 201
        assert rows(suite, "SELECT count(*) FROM annotation.bonuses") == [(1,)]

    async def test_ends_decisions_about_the_person(self, suite: RunningSuite):
        campaign = await campaign_of(suite, **PAY)
        await claim(suite, campaign, "p-bert-9")
        path = f"/v1/campaigns/{campaign['id']}/annotators/{(await annotator_of(suite, campaign, 'p-bert-9'))['id']}"
        await decide(suite, campaign, "p-bert-9", "erase")
        admin = await suite.client("annotation", "admin")
        for decision, body in (("block", {}), ("unblock", {}), ("bonuses", {"amount": "1"})):
            refused = await admin.post(f"{path}/{decision}", json=body | {"reason": "p-bert-9 again"})
            assert (refused.status_code, refused.json()["type"].split(":")[-1]) == (409, "annotator-erased")

    async def test_makes_the_person_who_comes_back_a_new_annotator(self, suite: RunningSuite):
        campaign, _ = await live(suite, PERSON)
        before = await annotator_of(suite, campaign, PERSON)
        await decide(suite, campaign, PERSON, "erase")
        assert (await ask(suite, campaign, PERSON)).json()["type"].endswith("consent-required")
        await come(suite, campaign, PERSON)
        after = await annotator_of(suite, campaign, PERSON)
        assert after["id"] != before["id"]
        assert (after["packages"], after["blocked_at"]) == (0, None)

    async def test_takes_what_the_person_holds_from_them(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        held = await claim(suite, campaign, "p-bert-9")
        await decide(suite, campaign, "p-bert-9", "erase")
        assert (await save(suite, held, 0, {})).status_code == 404
        assert (await submit(suite, held)).status_code == 404

    async def test_beside_submits_and_claims_loses_no_slot_and_leaves_no_old_name(self, suite: RunningSuite):
        """A claim that comes after the erasure makes a new annotator; nothing in between is half done."""
        campaign = await campaign_of(suite, annotations_per_segment=3)
        admin = await suite.client("annotation", "admin")
        for number in range(4):
            person = f"p-bert-{number}"
            held = await claim(suite, campaign, person)
            await answer_items(suite, held)
            row_id = (await annotator_of(suite, campaign, person))["id"]
            erase = admin.post(f"/v1/campaigns/{campaign['id']}/annotators/{row_id}/erase")
            claims = [ask(suite, campaign, person) for _ in range(2)]
            reason = {"reason": f"{person} is too fast"}
            block = admin.post(f"/v1/campaigns/{campaign['id']}/annotators/{row_id}/block", json=reason)
            again = admin.post(f"/v1/campaigns/{campaign['id']}/annotators/{row_id}/erase")
            answers = await asyncio.gather(submit(suite, held), erase, again, *claims, block)
            assert answers[0].status_code in {200, 404, 409}
            assert {answer.status_code for answer in answers[1:]} <= {200, 201, 409}
            assert "audit_log" not in tables_that_hold(suite, "annotation", person)
            names = rows(suite, f"SELECT external_id FROM annotation.annotators WHERE id = '{row_id}'")  # noqa: S608
            assert names[0][0].startswith("erased-")
        decided = "SELECT count(*), count(DISTINCT annotator_id) FROM annotation.audit_log WHERE action LIKE '%erased'"
        assert rows(suite, decided) == [(4, 4)]
        uneven = """
            SELECT id FROM annotation.packages WHERE slots_left <> 3 - (SELECT count(*) FROM annotation.assignments
            WHERE package_id = packages.id AND state IN ('leased', 'submitted'))
        """
        assert rows(suite, uneven) == []

    async def test_erases_two_people_at_once_who_hold_the_same_packages(self, suite: RunningSuite):
        """They hold the same packages of two campaigns, to which they came in another order."""
        campaigns = [await campaign_of(suite, 2, name=name, annotations_per_segment=9) for name in ("c1", "c2")]
        admin = await suite.client("annotation", "admin")
        for number in range(4):
            paths = []
            for person, order in ((f"p-bert-{number}", campaigns), (f"p-cleo-{number}", campaigns[::-1])):
                for campaign in order:
                    await claim(suite, campaign, person)
                row_id = (await annotator_of(suite, order[0], person))["id"]
                paths.append(f"/v1/campaigns/{order[0]['id']}/annotators/{row_id}/erase")
            assert [each.status_code for each in await asyncio.gather(*map(admin.post, paths))] == [200, 200]

    async def test_is_for_administrators_and_annotators_who_are_there(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "p-bert-9")
        mine = await annotator_of(suite, campaign, "p-bert-9")
        path = f"/v1/campaigns/{campaign['id']}/annotators/{mine['id']}/erase"
        for role in ("annotation", "analyst", "service"):
            client = await suite.client("annotation", role)
            assert (await client.post(path)).status_code == 403
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(path.replace(mine["id"], campaign["id"]))).status_code == 404

    async def test_spares_another_frontends_annotator_of_the_same_name(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        for team in (None, "others"):
            assert (await ask(suite, campaign, "p-bert-9", team=team)).status_code == 201
        admin = await suite.client("annotation", "admin")
        found = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        (mine,) = [each for each in found if not each["frontend"].startswith("team")]
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/annotators/{mine['id']}/erase")).status_code == 200
        assert (await annotator_of(suite, campaign, "p-bert-9"))["frontend"] == "team others"


@pytest.mark.parametrize(
    ("external_id", "text", "is_named"),
    [
        ("p-17", "p-17 is fast", True),
        ("p-17", "the same as 'p-17'.", True),
        ("p-17", "p-171 is fast", False),
        ("p-17", "up-17", False),
        ("p.17", "pX17", False),
        ("a|b", "only a", False),
        ("(a+b)*[c]$", "it is (a+b)*[c]$!", True),
        ("A B\\d", "A B\\d", True),
        ("José\u00a0東京_1", "ask José\u00a0東京_1", True),
        ("José", "Joséphine", False),
        ("A B\\d", "A B7", False),
    ],
)
async def test_a_text_names_a_person_where_their_id_stands_as_a_word(
    suite: RunningSuite, external_id: str, text: str, *, is_named: bool
):
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        found = connection.execute("SELECT %s::text ~ %s", [text, naming_pattern(external_id)]).fetchone()
    assert found == (is_named,)
