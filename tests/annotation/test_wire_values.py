"""Answers that are made from attributes: what each field is, stated from rows and requests, so that nothing leaks."""

import hashlib
from typing import Any
from uuid import UUID, uuid4

from spotthebot.annotation.entry_links.domain.entry_links import Worker
from spotthebot.contracts.annotation.annotations import (
    AnnotationOut,
    AnnotationsRevisionOut,
    AnnotatorKind,
    DecisionOut,
    SharedAnnotatorsOut,
)
from spotthebot.contracts.annotation.assignments import (
    AnnotatorOut,
    AnnotatorQualityOut,
    AssignmentOut,
    AssignmentSummaryOut,
    ItemOut,
    LeaseOut,
)
from spotthebot.contracts.annotation.audit import AuditEntryOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.entries import AnnotatorWorkforceOut, EntryLinkOut, EntryLinkStateOut
from spotthebot.contracts.annotation.exports import ExportedItem
from spotthebot.contracts.annotation.payments import BonusOut, PaymentOut
from spotthebot.contracts.annotation.previews import CampaignPreviewOut, PreviewedItem
from spotthebot.contracts.annotation.protocols import ProtocolSummaryOut
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.contracts.annotation.trainings import (
    FeedbackOut,
    TrainingAttemptOut,
    TrainingDialogueResultOut,
    TrainingOut,
    TrainingRecordOut,
    TrainingResultsOut,
    TrainingSummaryOut,
    WorkforceResultOut,
)
from tests.factories.annotating import WHOLE, claim, save, submit, work_through
from tests.factories.annotator_trainings import RIGHT, WRONG, respond, store_training, training, training_campaign
from tests.factories.campaigns import campaign_of, open_campaign
from tests.factories.chat_studies import store_scores
from tests.factories.protocols import document, single
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations
from tests.factories.wire_values import assert_is, select

PERSON = "60ffe5c8371090c7041d43f8"
PANEL: dict[str, Any] = {"kind": "prolific", "completion_code": "C1ODE7"}
PAY: dict[str, Any] = {"pay_per_package": "1.10", "currency": "EUR"}
GAME = "spot_the_bot_gamified"


def rows(suite: RunningSuite, query: str, *parameters: object) -> list[dict[str, Any]]:
    return select(suite.database.owner["annotation"], query, *parameters)


async def get(suite: RunningSuite, path: str, role: str = "admin") -> Any:
    client = await suite.client("annotation", role)
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def post(suite: RunningSuite, path: str, body: dict[str, Any], role: str = "admin") -> Any:
    client = await suite.client("annotation", role)
    answer = await client.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


async def played(suite: RunningSuite) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return a game that a person played, its assignment and the person's pseudonym."""
    talk = conversation("d0", "SECRET-ONE", "SECRET-TWO")
    more = {"protocol": GAME, "protocol_version": 1, "segments": [1, 3], "panel": PANEL} | PAY
    campaign = await open_campaign(suite, await import_conversations(suite, [talk]), **more)
    assignment = await claim(suite, campaign, PERSON)
    await post(suite, f"/v1/assignments/{assignment['id']}/items/0/exchanges", {"open": 1}, "annotation")
    answered = await save(suite, assignment, 0, {"entity": {"A": "human", "B": "bot"}}, elapsed_ms=77)
    assert answered.status_code == 200, answered.text
    return campaign, assignment, (await submit(suite, assignment)).json()["pseudonym"]


class TestWork:
    async def test_is_shown_as_its_annotator_sees_it(self, suite: RunningSuite):
        campaign, assignment, _ = await played(suite)
        (lease,) = rows(suite, "SELECT * FROM annotation.assignments")
        (draft,) = rows(suite, "SELECT * FROM annotation.answers")
        shown = await get(suite, f"/v1/assignments/{assignment['id']}", "annotation")
        (decided, *_) = draft["decisions"]
        item = {
            "position": 0,
            "turns": [{"speaker": "A", "text": "d0 says 0"}, {"speaker": "B", "text": "d0 says 1"}],
            "right_turns": None,
            "opened": 1,
            "step": 1,
            "answer": {"entity": {"A": "human", "B": "bot"}},
            "decisions": draft["decisions"],
            "version": 1,
        }
        assert_is(ItemOut, shown["items"][0], item)
        assert_is(
            DecisionOut,
            shown["items"][0]["decisions"][0],
            {
                "question": "entity",
                "target": "A",
                "exchanges": 1,
                "opened_at": decided["opened_at"],
                "decided_at": decided["decided_at"],
            },
        )
        protocol = (await get(suite, f"/v1/protocols/{GAME}/versions/1"))["protocol"]
        stated = {
            "id": lease["id"],
            "campaign_id": campaign["id"],
            "annotator": PERSON,
            "state": "submitted",
            "instructions": "",
            "protocol": protocol,
            "items": [item],
            "expires_at": lease["expires_at"],
            "completion_code": lease["completion_code"],
        }
        assert_is(AssignmentOut, shown, stated)

    async def test_is_annotated_by_a_pseudonym(self, suite: RunningSuite):
        campaign, _, pseudonym = await played(suite)
        (row,) = rows(
            suite,
            "SELECT a.id, i.conversation_id, i.package_id, a.answer, a.decisions, a.started_at, a.ended_at,"
            " a.elapsed_ms FROM annotation.annotations a JOIN annotation.items i ON i.id = a.item_id",
        )
        (found,) = (await get(suite, f"/v1/campaigns/{campaign['id']}/annotations", "analyst"))["items"]
        more = {"exchanges": 3, "right": None, "annotator": pseudonym, "annotator_kind": "person", "reported_ms": 77}
        more |= {"judge": None, "judge_labels": None}
        assert_is(AnnotationOut, found, row | more)
        assert pseudonym != PERSON
        revision = await get(suite, f"/v1/campaigns/{campaign['id']}/annotations/revision", "analyst")
        (hashed,) = rows(suite, "SELECT hash_record_extended(annotations, 0) FROM annotation.annotations")
        stated = f"1-{hashed['hash_record_extended'] % 2**64:016x}"
        assert_is(AnnotationsRevisionOut, revision, {"annotations": 1, "revision": stated})
        shared = await get(suite, f"/v1/campaigns/{campaign['id']}/annotations/shared-annotators", "analyst")
        assert_is(SharedAnnotatorsOut, shared, {"people": 0})

    async def test_is_listed_for_administrators(self, suite: RunningSuite):
        campaign, assignment, pseudonym = await played(suite)
        path = f"/v1/campaigns/{campaign['id']}"
        (person,) = rows(
            suite,
            "SELECT id, frontend, external_id AS annotator, kind, 1 AS packages, created_at, consented_at, gold_right,"
            " gold_wrong, fast_items, fast_packages, strikes, blocked_at, blocked_reason, appeal, appealed_at,"
            " erased_at FROM annotation.annotators",
        )
        annotator = person | {"pseudonym": pseudonym, "judge": None}
        (found,) = (await get(suite, f"{path}/annotators"))["items"]
        assert_is(AnnotatorOut, found, annotator)
        assert found["annotator"] == PERSON
        quality = await get(suite, f"{path}/annotators/{person['id']}/quality")
        stated = {"annotator": annotator, "annotations": 1, "others_median_seconds": None, "agreement": {}}
        assert_is(AnnotatorQualityOut, quality, stated | {"median_seconds": quality["median_seconds"]})
        (lease,) = rows(suite, "SELECT * FROM annotation.assignments")
        summary = ("id", "annotator_id", "package_id", "state", "leased_at", "expires_at", "submitted_at")
        (found,) = (await get(suite, f"{path}/annotators/{person['id']}/assignments"))["items"]
        assert_is(AssignmentSummaryOut, found, {name: lease[name] for name in summary})
        assert found["id"] == assignment["id"]
        await post(suite, f"{path}/annotators/{person['id']}/block", {"reason": "none"})
        (entry,) = rows(suite, "SELECT id, at, key_id, action, annotator_id, details FROM annotation.audit_log")
        (found,) = (await get(suite, f"{path}/audit"))["items"]
        assert_is(AuditEntryOut, found, entry)
        assert (found["annotator_id"], found["details"]["reason"]) == (str(person["id"]), "none")

    async def test_is_paid(self, suite: RunningSuite):
        campaign, _, _ = await played(suite)
        (person,) = rows(suite, "SELECT id, frontend FROM annotation.annotators")
        path = f"/v1/campaigns/{campaign['id']}"
        body = {"amount": "0.25", "reason": "careful"}
        granted = await post(suite, f"{path}/annotators/{person['id']}/bonuses", body)
        (bonus,) = rows(suite, "SELECT id, annotator_id, amount, reason, granted_at FROM annotation.bonuses")
        assert_is(BonusOut, granted, bonus | {"currency": "EUR"})
        (found,) = (await get(suite, f"{path}/payments"))["items"]
        stated = {
            "annotator_id": person["id"],
            "annotator": PERSON,
            "kind": "person",
            "frontend": person["frontend"],
            "packages": 1,
            "pay": "1.10",
            "bonuses": "0.25",
            "total": "1.35",
            "reward": "1.10",
            "currency": "EUR",
        }
        assert_is(PaymentOut, found, stated)

    async def test_is_kept_while_its_annotator_is_there(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        lease = await post(suite, f"/v1/assignments/{assignment['id']}/heartbeat", {}, "annotation")
        (row,) = rows(suite, "SELECT state, expires_at FROM annotation.assignments")
        assert_is(LeaseOut, lease, row)


class TestCampaigns:
    async def test_are_shown_with_their_settings_and_progress(self, suite: RunningSuite):
        rules: dict[str, Any] = {
            "consent": "Read this.",
            "instructions": "Be careful.",
            "min_seconds_per_item": 1.5,
            "min_fraction_of_median": 0.25,
            "strike_fast_packages": True,
            "max_strikes": 7,
            "packages_per_annotator": 9,
            "lease_minutes": 33,
            "annotations_per_segment": 4,
            "judge_annotations_per_segment": 3,
            "panel": PANEL,
            "seed": 11,
            "margin": 0.2,
            "stop_when": {"width": 0.5},
            **PAY,
        }
        campaign = await campaign_of(suite, **rules)
        (row,) = rows(
            suite,
            "SELECT id, name, domain, collection_id, ARRAY[collection_id] || more_collections AS collections,"
            " human_share, mode, state, failure, too_short, not_selected, unpaired,"
            " segments, annotations_per_segment, judge_annotations_per_segment, pairs, units_twice, headline,"
            " margin, stop_when, stopped_at,"
            " package_size, packages_per_annotator,"
            " lease_seconds / 60 AS lease_minutes, pay_per_package, currency,"
            " protocol_name AS protocol, protocol_version, instructions, consent, panel, training, gold, max_strikes,"
            " min_seconds_per_item, min_fraction_of_median, strike_fast_packages, seed, annotators_published, packages,"
            " items, submitted, 4 * packages AS assignments_needed, annotations, 4 * items AS annotations_needed,"
            " released_at, published_at, created_at"
            " FROM annotation.campaigns",
        )
        stated = row | {"consent_sha256": hashlib.sha256(b"Read this.").hexdigest(), "stop_reason": None}
        assert_is(CampaignOut, campaign, stated)
        assert {name: campaign[name] for name in rules} == rules

    async def test_are_previewed(self, suite: RunningSuite):
        campaign = await campaign_of(suite, **PAY)
        stated: dict[str, Any] = {
            "lengths": [1, 2],
            "conversations": 4,
            "too_short": 0,
            "not_selected": 0,
            "unpaired": 0,
            "packages": 4,
            "items": 8,
            "units_twice": None,
            "assignments": 8,
            "annotations": 16,
            "annotators": 4,
            "annotators_enough": 4,
            "hours": None,
            "seconds_by_length": {},
            "measured_annotations": 0,
            "unmeasured_lengths": [1, 2],
            "pay": "8.80",
            "currency": "EUR",
            "unreached": [],
        }
        assert_is(CampaignPreviewOut, await get(suite, f"/v1/campaigns/{campaign['id']}/preview"), stated)
        (item,) = rows(suite, "SELECT * FROM annotation.items ORDER BY package_id, position LIMIT 1")
        query = "SELECT opening, turns FROM annotation.shown_conversations WHERE conversation_id = %s"
        (shown,) = rows(suite, query, item["conversation_id"])
        found = (await get(suite, f"/v1/campaigns/{campaign['id']}/preview/package"))["items"][0]
        turns = shown["turns"][: 2 * item["exchanges"]]
        stated = {"position": 0, "opening": shown["opening"], "turns": turns, "right_turns": None}
        assert_is(PreviewedItem, found, stated)

    async def test_are_exported_by_package(self, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=1, name="exported", segments=[2])
        client = await suite.client("annotation", "analyst")
        params = {"rows": "packages", "format": "ndjson"}
        answer = await client.get(f"/v1/campaigns/{campaign['id']}/export", params=params)
        (row,) = rows(
            suite,
            "SELECT 'exported' AS campaign, 'everyday' AS domain, package_id::text AS package, 0 AS position,"
            " 'c0' AS conversation, 2 AS exchanges, NULL AS right_conversation, NULL AS right_exchanges"
            " FROM annotation.items",
        )
        assert_is(ExportedItem, answer.json(), row)


class TestLinks:
    async def test_are_shown_when_they_are_made_and_as_they_stand(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel=PANEL)
        path = f"/v1/campaigns/{campaign['id']}/entry-links"
        made = await created(
            await suite.client("annotation", "annotation"), path, {"max_annotators": 3, "signed_ids": True}
        )
        (row,) = rows(suite, "SELECT * FROM annotation.entry_links")
        both = {name: row[name] for name in ("id", "annotator", "max_annotators", "expires_at")}
        assert_is(EntryLinkOut, made, both | {"query": made["query"], "signing_key": made["signing_key"]})
        assert made["query"].startswith(f"entry={row['id'].hex}.")
        (found,) = (await get(suite, path))["items"]
        more = {name: row[name] for name in ("frontend", "signed_ids", "annotators", "created_at", "revoked_at")}
        assert_is(EntryLinkStateOut, found, both | more)
        assert found["frontend"] is not None

    def test_name_the_workforce_of_an_annotator(self):
        link = uuid4()
        worker = Worker(uuid4(), "ann", AnnotatorKind.PERSON, "us", link)
        stated = {"annotator": "a-1", "frontend": "us", "link": link}
        assert_is(AnnotatorWorkforceOut, AnnotatorWorkforceOut.of(worker, annotator="a-1"), stated)


class TestStudies:
    async def test_are_shown_with_their_campaigns_in_order(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("d0", "X", "Y")])
        tasks = [(await open_campaign(suite, collection))["id"] for _ in range(2)]
        body = {"name": "s", "campaigns": tasks[::-1], "chats": [], "outcome": "quality", "seed": 5}
        body |= {"scores": [], "latency": True}
        study = await post(suite, "/v1/studies", body)
        (row,) = rows(suite, "SELECT id, created_at FROM annotation.studies")
        assert_is(StudyOut, study, body | row)
        store_scores(suite, study["id"], UUID(int=1))
        stored = {"scores": [UUID(int=1)]}
        assert_is(StudyOut, (await get(suite, "/v1/studies"))["items"][0], body | row | stored)


class TestTrainings:
    async def test_are_shown_whole_and_in_lists(self, suite: RunningSuite):
        stored = await store_training(suite, version=3)
        (row,) = rows(suite, "SELECT created_at FROM annotation.trainings")
        found = await get(suite, "/v1/trainings/first_steps/versions/3")
        assert_is(TrainingOut, found, {"training": stored, **row})
        (listed,) = (await get(suite, "/v1/trainings"))["items"]
        written = training(version=3)
        names = ("name", "version", "title", "protocol", "protocol_version")
        assert_is(TrainingSummaryOut, listed, {name: written[name] for name in names} | {"dialogues": 3, **row})

    async def test_are_answered_and_recorded(self, suite: RunningSuite):
        campaign = await training_campaign(suite, attempts=2)
        await post(suite, f"/v1/campaigns/{campaign['id']}/training", {"annotator": "w"}, "annotation")
        feedback = (await respond(suite, campaign, "w", 0, WRONG)).json()
        given, right = WRONG["entity"], RIGHT["entity"]
        targets = [
            {
                "target": side,
                "given": {"entity": given[side]},
                "right": [{"entity": right[side]}],
                "is_right": False,
                "explanation": written,
            }
            for side, written in training()["dialogues"][0]["explanations"].items()
        ]
        stated = {"position": 0, "mistakes": 2, "targets": targets, "state": "in_progress"}
        assert_is(FeedbackOut, feedback, stated)
        (person,) = rows(suite, "SELECT id FROM annotation.annotators")
        record = await get(suite, f"/v1/campaigns/{campaign['id']}/annotators/{person['id']}/training")
        answers = rows(suite, "SELECT position, answer, mistakes, answered_at FROM annotation.training_answers")
        (row,) = rows(suite, "SELECT attempt, state, started_at, ended_at FROM annotation.training_attempts")
        attempt = row | {"answers": answers}
        assert_is(TrainingAttemptOut, record["attempts"][0], attempt)
        assert (answers[0]["answer"], answers[0]["mistakes"]) == (WRONG, 2)
        assert_is(TrainingRecordOut, record, {"attempts": [attempt], "granted": 0, "attempts_left": 1})
        dialogue = {"position": 0, "people": 1, "within_allowed": 0, "mistakes": 2}
        (who,) = rows(suite, "SELECT frontend FROM annotation.annotators")
        counts = {"link": None, "people": 1, "passed": 0, "passed_first": 0, "failed": 0, "pass_rate": None}
        workforce = who | counts | {"dialogues": [dialogue]}
        results = await get(suite, f"/v1/campaigns/{campaign['id']}/training/results")
        stated = {"training": "first_steps", "version": 1, "allowed_mistakes": 0, "workforces": [workforce]}
        assert_is(TrainingResultsOut, results, stated)
        assert_is(WorkforceResultOut, results["workforces"][0], workforce)
        assert_is(TrainingDialogueResultOut, results["workforces"][0]["dialogues"][0], dialogue)

    async def test_are_by_protocols_that_are_listed(self, suite: RunningSuite):
        written = document([single("q", "yes", "no")], source="A paper.")
        await post(suite, "/v1/protocols", {"protocol": written})
        found = (await get(suite, "/v1/protocols"))["items"][-1]
        (row,) = rows(suite, "SELECT name, version, created_at FROM annotation.protocols")
        assert_is(
            ProtocolSummaryOut,
            found,
            row | {"title": "An example", "source": "A paper.", "built_in": False},
        )


class TestAgreement:
    async def test_counts_what_was_compared(self, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=1, segments=[1])
        for name in ("w", "other"):
            await work_through(suite, await claim(suite, campaign, name), WHOLE)
        (person,) = rows(suite, "SELECT id FROM annotation.annotators WHERE external_id = 'w'")
        found = await get(suite, f"/v1/campaigns/{campaign['id']}/annotators/{person['id']}/quality")
        assert found["agreement"]["entity"] == {"compared": 2, "equal": 2}
