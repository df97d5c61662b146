"""What annotators are paid, and the files for panels."""

import csv
import io
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx
import pytest
from pydantic import TypeAdapter

from spotthebot.annotation.payments.domain import (
    Bonus,
    PaidPackage,
    Payment,
    bonus_lines,
    rewarded_packages,
    turk_bonuses,
)
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.panels import StoredPanel
from spotthebot.kit.text.csv_files import lines_of
from tests.annotation.campaigns.test_campaign_lifecycle import CAMPAIGN
from tests.factories.annotating import DECISION, WHOLE, claim, rows, work_through
from tests.factories.campaigns import campaign_of, turk_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.stored_campaigns import NOON
from tests.factories.studies import created

PAY: dict[str, Any] = {"pay_per_package": "0.10", "currency": "EUR"}
ANNA, BERT = "60ffe5c8371090c7041d43f8", "60ffe5c8371090c7041d43f9"
PROLIFIC = {"kind": "prolific", "completion_code": "C1ODE7"}


async def get(
    suite: RunningSuite, campaign: dict[str, Any], path: str = "payments", role: str = "admin"
) -> httpx.Response:
    client = await suite.client("annotation", role)
    return await client.get(f"/v1/campaigns/{campaign['id']}/{path}")


async def grant(
    suite: RunningSuite,
    campaign: dict[str, Any],
    annotator: str,
    amount: str,
    reason: str = "careful",
    *,
    key: str = "",
) -> httpx.Response:
    admin = await suite.client("annotation", "admin")
    annotators = (await get(suite, campaign, "annotators")).json()["items"]
    (row_id,) = [each["id"] for each in annotators if each["annotator"] == annotator]
    path = f"/v1/campaigns/{campaign['id']}/annotators/{row_id}/bonuses"
    headers = {"Idempotency-Key": key} if key else {}
    return await admin.post(path, json={"amount": amount, "reason": reason}, headers=headers)


async def work(suite: RunningSuite, campaign: dict[str, Any], annotator: str, packages: int) -> None:
    for _ in range(packages):
        await work_through(suite, await claim(suite, campaign, annotator))


class TestPayments:
    async def test_are_packages_times_pay_and_bonuses_exactly(self, suite: RunningSuite):
        """.10 + .10 + .20 is .40, as it is not in binary floating point: .1 + .1 + .1 is not .3 there."""
        campaign = await campaign_of(suite, **PAY, panel=PROLIFIC)
        await work(suite, campaign, ANNA, 2)
        await claim(suite, campaign, BERT)  # holds a package, and submitted none
        for _ in range(2):
            assert (await grant(suite, campaign, ANNA, "0.10")).status_code == 201
        (payment,) = (await get(suite, campaign)).json()["items"]
        assert [payment[name] for name in ("annotator", "packages", "currency")] == [ANNA, 2, "EUR"]
        amounts = {name: payment[name] for name in ("pay", "bonuses", "total", "reward")}
        assert amounts == {"pay": "0.20", "bonuses": "0.20", "total": "0.40", "reward": "0.10"}

    async def test_come_in_pages(self, suite: RunningSuite):
        campaign = await campaign_of(suite, **PAY)
        for annotator in ("a", "b", "c"):
            await work(suite, campaign, annotator, 1)
        page = (await get(suite, campaign, "payments?limit=2")).json()
        rest = (await get(suite, campaign, f"payments?limit=2&cursor={page['next_cursor']}")).json()
        assert [[each["annotator"] for each in found["items"]] for found in (page, rest)] == [["a", "b"], ["c"]]

    async def test_need_a_pay_and_an_administrator(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        for answer in (
            await get(suite, campaign),
            await get(suite, campaign, "payments/file?kind=bonuses"),
            await grant(suite, campaign, "w", "1"),
        ):
            assert (answer.status_code, answer.json()["type"].split(":")[-1]) == (409, "no-pay")
        for role in ("annotation", "analyst", "service"):
            assert (await get(suite, campaign, role=role)).status_code == 403
            assert (await get(suite, campaign, "payments/file?kind=bonuses", role=role)).status_code == 403


class TestBonuses:
    async def test_are_granted_once_and_audited(self, suite: RunningSuite):
        campaign = await campaign_of(suite, **PAY)
        await claim(suite, campaign, "w")
        answers = [await grant(suite, campaign, "w", "1.50", "found a bug", key="k") for _ in range(2)]
        assert answers[0].text == answers[1].text
        assert rows(suite, "SELECT amount, reason FROM annotation.bonuses") == [(Decimal("1.50"), "found a bug")]
        (entry,) = (await get(suite, campaign, "audit")).json()["items"]
        assert (entry["action"], entry["details"]) == (
            "annotator.bonus_granted",
            {"amount": "1.50 EUR", "reason": "found a bug"},
        )

    async def test_bonuses_are_written_with_their_cents(self, suite: RunningSuite):
        campaign = await campaign_of(suite, **PAY)
        await claim(suite, campaign, "w")
        assert [(await grant(suite, campaign, "w", amount)).json()["amount"] for amount in ("1e2", "1.5", "2")] == [
            "100.00",
            "1.50",
            "2.00",
        ]

    @pytest.mark.parametrize("amount", ["0", "-1", "0.001", "10000.01", "NaN", "Infinity", "1e3000", "x"])
    async def test_bonuses_of_absurd_amounts_are_refused(self, suite: RunningSuite, amount: str):
        campaign = await campaign_of(suite, **PAY)
        await claim(suite, campaign, "w")
        assert (await grant(suite, campaign, "w", amount)).status_code == 422

    async def test_bonus_of_an_annotator_of_another_campaign_is_not_found(self, suite: RunningSuite):
        campaigns = [await campaign_of(suite, **PAY, name=name) for name in ("c1", "c2")]
        await claim(suite, campaigns[0], "w")
        (annotator,) = (await get(suite, campaigns[0], "annotators")).json()["items"]
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaigns[1]['id']}/annotators/{annotator['id']}/bonuses"
        assert (await admin.post(path, json={"amount": "1", "reason": "r"})).status_code == 404


class TestFiles:
    async def test_files_of_prolific_have_its_forms(self, suite: RunningSuite):
        """Anna's second package and her bonus: 1 x .10 + 1.05; Bert's one package is the reward."""
        campaign = await campaign_of(suite, **PAY, panel=PROLIFIC)
        await work(suite, campaign, ANNA, 2)
        await work(suite, campaign, BERT, 1)
        await grant(suite, campaign, ANNA, "1.05")
        files = {kind: await get(suite, campaign, f"payments/file?kind={kind}") for kind in ("bonuses", "approvals")}
        assert files["bonuses"].text == f"{ANNA},1.15\r\n"
        assert files["approvals"].text == f"{ANNA}\r\n{BERT}\r\n"
        assert files["bonuses"].headers["content-type"].startswith("text/csv")
        assert files["bonuses"].headers["content-disposition"] == 'attachment; filename="bonuses.csv"'

    async def test_files_of_mechanical_turk_have_the_parameters_of_send_bonus(self, suite: RunningSuite):
        campaign = await turk_campaign(suite, **PAY)
        admin, frontend = [await suite.client("annotation", role) for role in ("admin", "annotation")]
        link = await created(admin, f"/v1/campaigns/{campaign['id']}/entry-links", {})
        entered = {"entry": link["query"].removeprefix("entry="), "hitId": "H", "workerId": "A1"}
        entered |= {"turkSubmitTo": "https://www.mturk.com", "assignmentId": "AS1"}
        assert (await frontend.post("/v1/entries", json={"parameters": entered})).status_code == 200
        await work(suite, campaign, "A1", 1)
        bonus = (await grant(suite, campaign, "A1", "2", '=HYPERLINK("https://evil.example")')).json()
        text = (await get(suite, campaign, "payments/file?kind=bonuses")).text
        assert [*csv.reader(io.StringIO(text))] == [
            ["WorkerId", "AssignmentId", "BonusAmount", "Reason", "UniqueRequestToken"],
            ["A1", "AS1", "2.00", '\'=HYPERLINK("https://evil.example")', bonus["id"]],
        ]
        assert (await get(suite, campaign, "payments/file?kind=approvals")).text == "AS1\r\n"

    async def test_for_the_books_hold_no_formula(self, suite: RunningSuite):
        campaign = await campaign_of(suite, **PAY)
        people = ["=1+1", "+1", "-1", "@x", "\tx", "\n=1", "\uff1d1+1", 'a"b,c\u2028']
        for person in people:
            await work(suite, campaign, person, 1)
        text = (await get(suite, campaign, "payments/file?kind=payments")).text
        table = [*csv.DictReader(io.StringIO(text))]
        assert [row["annotator"] for row in table] == [f"'{person}" for person in people[:-1]] + people[-1:]
        assert {(row["packages"], row["pay"], row["total"], row["reward"]) for row in table} == {
            ("1", "0.10", "0.10", "0.00")
        }

    async def test_files_pay_a_person_who_came_through_two_frontends_all_that_the_reward_does_not(
        self, suite: RunningSuite
    ):
        """Two packages at .10, of which Prolific's reward pays one: the other .10 is beside it."""
        campaign = await campaign_of(suite, **PAY, panel=PROLIFIC)
        await work(suite, campaign, ANNA, 1)
        other = await suite.client("annotation", "annotation", team="others")
        claimed = await created(other, f"/v1/campaigns/{campaign['id']}/assignments", {"annotator": ANNA})
        for item in claimed["items"]:
            path = f"/v1/assignments/{claimed['id']}/items/{item['position']}"
            for body in ({"answer": DECISION, "show_step": 2}, {"answer": WHOLE}):
                assert (await other.put(path, json=body)).status_code == 200
        assert (await other.post(f"/v1/assignments/{claimed['id']}/submit")).status_code == 200
        assert (await get(suite, campaign, "payments/file?kind=approvals")).text == f"{ANNA}\r\n"
        assert (await get(suite, campaign, "payments/file?kind=bonuses")).text == f"{ANNA},0.10\r\n"
        assert [each["reward"] for each in (await get(suite, campaign)).json()["items"]] == ["0.10", "0.00"]

    async def test_files_of_mechanical_turk_pay_each_package_once(self, suite: RunningSuite):
        """Two packages for one assignment: its approval pays one of them, a bonus the other."""
        campaign = await turk_campaign(suite, **PAY)
        admin, frontend = [await suite.client("annotation", role) for role in ("admin", "annotation")]
        link = await created(admin, f"/v1/campaigns/{campaign['id']}/entry-links", {})
        entered = {"entry": link["query"].removeprefix("entry="), "hitId": "H", "workerId": "A1"}
        entered |= {"turkSubmitTo": "https://www.mturk.com", "assignmentId": "AS1"}
        assert (await frontend.post("/v1/entries", json={"parameters": entered})).status_code == 200
        await work(suite, campaign, "A1", 2)
        assert (await get(suite, campaign, "payments/file?kind=approvals")).text == "AS1\r\n"
        (further,) = rows(suite, "SELECT max(id::text) FROM annotation.assignments")
        text = (await get(suite, campaign, "payments/file?kind=bonuses")).text
        assert [*csv.reader(io.StringIO(text))][1:] == [
            ["A1", "AS1", "0.10", "Another package that you annotated.", *further]
        ]
        (payment,) = (await get(suite, campaign)).json()["items"]
        assert (payment["total"], payment["reward"]) == ("0.20", "0.10")

    async def test_files_of_another_kind_are_refused(self, suite: RunningSuite):
        campaign = await campaign_of(suite, **PAY)
        for query in ("", "?kind=x", "?kind=bonuses&x=1"):
            assert (await get(suite, campaign, f"payments/file{query}")).status_code == 422


def _payment(annotator: str, packages: int, bonuses: str, *, rewarded: int) -> Payment:
    kind, pay = AnnotatorKind.PERSON, Decimal("0.10")
    return Payment(UUID(int=1), annotator, kind, "ours", packages, Decimal(bonuses), pay, rewarded)


class TestRules:
    @pytest.mark.parametrize(
        ("panel", "is_rewarded", "expected"),
        [
            (PROLIFIC, False, [0, 1, 1]),
            (PROLIFIC, True, [0, 0, 0]),
            ({"kind": "cloudresearch", "completion_code": "C1ODE7"}, False, [0, 1, 1]),
            ({"kind": "mturk"}, True, [7, 7, 7]),
            ({"kind": "generic", "parameter": "pid"}, False, [0, 0, 0]),
            (None, False, [0, 0, 0]),
        ],
    )
    def test_a_panel_pays_its_reward_once_for_a_person_or_for_each_of_its_own_assignments(
        self, panel: dict[str, Any] | None, is_rewarded: bool, expected: list[int]
    ):
        campaign = replace(CAMPAIGN, panel=TypeAdapter[StoredPanel | None](StoredPanel | None).validate_python(panel))
        found = [
            rewarded_packages(campaign, packages, panel_assignments=7, is_rewarded=is_rewarded)
            for packages in (0, 1, 3)
        ]
        assert found == expected

    def test_a_bonus_is_what_the_reward_leaves_of_all_that_a_person_gets(self):
        payments = [
            _payment(ANNA, 2, "0.25", rewarded=1),
            _payment(BERT, 1, "0.00", rewarded=1),
            _payment(ANNA, 1, "0.00", rewarded=0),
        ]
        assert [(each.pay, each.total, each.reward) for each in payments[:2]] == [
            (Decimal("0.20"), Decimal("0.45"), Decimal("0.10")),
            (Decimal("0.10"), Decimal("0.10"), Decimal("0.10")),
        ]
        assert bonus_lines(payments) == f"{ANNA},0.45\r\n"
        assert lines_of([ANNA, BERT, ANNA]) == f"{ANNA}\r\n{BERT}\r\n"

    def test_mechanical_turk_pays_each_of_its_assignments_once_and_the_rest_are_bonuses(self):
        ids = [UUID(int=number) for number in range(1, 6)]
        packages = [
            PaidPackage(assignment, annotator, of_panel)
            for assignment, annotator, of_panel in zip(ids, "AAAB", ("T1", "T1", None, "T1"), strict=False)
        ]
        granted = [Bonus(ids[4], ids[0], "B", Decimal(2), "=careful", NOON, None)]
        rows = turk_bonuses(packages, Decimal("0.10"), granted).split("\r\n")
        assert [row.split(",")[:3] for row in rows[1:-1]] == [["A", "T1", "0.10"], ["A", "", "0.10"], ["B", "", "2.00"]]
        assert [row.split(",")[-1] for row in rows[1:-1]] == [str(ids[number]) for number in (1, 2, 4)]
        assert rows[3].split(",")[3] == "'=careful"
        assert turk_bonuses(packages, Decimal(0), []).count("\r\n") == 1
