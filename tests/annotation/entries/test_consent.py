"""Consent: no package without it, to no other text, and back again."""

import hashlib
from typing import Any

import httpx

from tests.factories.annotating import answer_items, ask, claim, refused, rows, save, submit, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite

TEXT = "We keep your labels \u2028 for ten years. <b>Ja?</b>"
SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()


async def consent(
    suite: RunningSuite, campaign: dict[str, Any], annotator: str, sha256: str = SHA256, *, team: str | None = None
) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation", team=team)
    body = {"annotator": annotator, "sha256": sha256}
    return await frontend.post(f"/v1/campaigns/{campaign['id']}/consents", json=body)


async def withdraw(
    suite: RunningSuite, campaign: dict[str, Any], annotator: str, *, team: str | None = None
) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation", team=team)
    return await frontend.post(f"/v1/campaigns/{campaign['id']}/consents/withdraw", json={"annotator": annotator})


class TestConsent:
    async def test_comes_before_the_first_package(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent=TEXT)
        assert (campaign["consent"], campaign["consent_sha256"]) == (TEXT, SHA256)
        assert await refused(suite, campaign, "w") == "consent-required"
        given = await consent(suite, campaign, "w")
        assert given.status_code == 200
        assert given.json()["sha256"] == SHA256
        assert (await ask(suite, campaign, "w")).status_code == 201
        assert await refused(suite, campaign, "other") == "consent-required"

    async def test_given_again_keeps_its_time(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent=TEXT)
        assert (await consent(suite, campaign, "w")).text == (await consent(suite, campaign, "w")).text

    async def test_to_another_text_is_refused(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent=TEXT)
        answer = await consent(suite, campaign, "w", hashlib.sha256(TEXT[:-1].encode()).hexdigest())
        assert (answer.status_code, answer.json()["type"].split(":")[-1]) == (409, "consent-to-another-text")
        assert await refused(suite, campaign, "w") == "consent-required"
        assert (await consent(suite, campaign, "w", SHA256.upper())).status_code == 422

    async def test_is_not_asked_where_there_is_no_text(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assert (campaign["consent"], campaign["consent_sha256"]) == ("", None)
        assert (await ask(suite, campaign, "w")).status_code == 201
        answer = await consent(suite, campaign, "w")
        assert (answer.status_code, answer.json()["type"].split(":")[-1]) == (409, "no-consent-asked")

    async def test_through_one_frontend_is_none_through_another(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent=TEXT)
        assert (await consent(suite, campaign, "w", team="others")).status_code == 200
        assert await refused(suite, campaign, "w") == "consent-required"

    async def test_is_given_by_frontends_alone(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent=TEXT)
        admin = await suite.client("annotation", "admin")
        for path in ("consents", "consents/withdraw"):
            assert (await admin.post(f"/v1/campaigns/{campaign['id']}/{path}", json={})).status_code == 403


class TestWithdrawnConsent:
    async def test_gives_the_package_to_others_and_keeps_what_was_submitted(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent=TEXT, annotations_per_segment=1)
        await consent(suite, campaign, "w")
        await work_through(suite, await claim(suite, campaign, "w"))
        held = await claim(suite, campaign, "w")
        await answer_items(suite, held)
        for _ in range(2):
            taken_back = await withdraw(suite, campaign, "w")
            assert (taken_back.status_code, taken_back.json()["sha256"]) == (200, None)
            assert taken_back.json()["withdrawn_at"] is not None
        assert await refused(suite, campaign, "w") == "consent-required"
        assert (await save(suite, held, 0, {})).status_code == 409
        assert (await submit(suite, held)).status_code == 409
        assert rows(suite, "SELECT count(*) FROM annotation.annotations") == [(2,)]
        await consent(suite, campaign, "other")
        others = [await claim(suite, campaign, "other")]
        await work_through(suite, others[0])
        assert rows(suite, "SELECT sum(slots_left) FROM annotation.packages") == [(2,)]  # 4 but for w's and other's
        admin = await suite.client("annotation", "admin")
        audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        assert [each["action"] for each in audit] == ["annotator.consent_withdrawn"]

    async def test_can_be_given_again(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent=TEXT)
        await consent(suite, campaign, "w")
        held = await claim(suite, campaign, "w")
        await withdraw(suite, campaign, "w")
        assert (await consent(suite, campaign, "w")).json()["withdrawn_at"] is None
        assert (await claim(suite, campaign, "w"))["id"] == held["id"]

    async def test_is_refused_where_there_is_no_text_to_consent_to(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        refused_with = (await withdraw(suite, campaign, "w")).json()["type"]
        assert refused_with == "urn:spotthebot:problem:no-consent-asked"

    async def test_consent_of_somebody_unknown_or_of_another_frontends_annotator_is_not_found(
        self, suite: RunningSuite
    ):
        campaign = await campaign_of(suite, consent=TEXT)
        await consent(suite, campaign, "w")
        assert (await withdraw(suite, campaign, "nobody")).status_code == 404
        assert (await withdraw(suite, campaign, "w", team="others")).status_code == 404
