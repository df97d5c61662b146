"""Files that declare campaigns over several collections, on a running suite."""

from dataclasses import replace

import pytest

from spotthebot.cli.campaigns.run import declare, estimate
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.errors import CampaignNameTaken
from spotthebot.local.runtime.session import Clients
from tests.factories.declared_campaigns import SMALL, Write, annotate_simulated
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations


class TestSeveralCollections:
    """Six conversations of bots, one of them in both collections, and five of people, two of them in both."""

    TEXT = SMALL.replace("[im]", "['{}', '{}']")

    @pytest.fixture
    async def text(self, suite: RunningSuite) -> str:
        bots = [conversation(f"c{number}", "one", "other") for number in range(6)]
        people = [conversation(f"p{number}", "HU", "HU") for number in range(5)]
        parts = [*bots[:4], *people[:3]], [*bots[3:], *people[1:]]
        return self.TEXT.format(*[await import_conversations(suite, part) for part in parts])

    async def test_several_collections_make_the_draft_that_the_dry_run_said(
        self, clients: Clients, declared: Write, text: str
    ):
        for request, used, not_selected in ((declared(text), 11, 3), (declared(f"{text}human_share: 0.25"), 8, 6)):
            again = replace(request, request=request.request.model_copy(update={"name": f"people {used}"}))
            said = await estimate(clients, again)
            made = await declare(clients, again, opens=True)
            assert said.account | {"campaign": str(made.campaign.id)} == made.account
            assert made.account["conversations"] == {"used": used, "too_short": 0}
            assert (said.estimate.not_selected, made.campaign.not_selected) == (not_selected, not_selected)
            assert not (await declare(clients, again, opens=True)).is_new
        # Twice as many as there is work for: nobody sees a conversation twice, in any order of coming.
        work = await annotate_simulated(clients, made.campaign, 24)
        assert work.annotations == 2 * 2 * used  # at two lengths, by two annotators
        with pytest.raises(CampaignNameTaken, match=r"human_share is 0\.25 there, 0\.2 here"):
            await declare(
                clients, declared(f"{text}human_share: 0.2".replace("name: people", "name: people 8")), opens=True
            )

    async def test_texts_that_repeat_in_another_collection_are_named_by_dry_run_and_campaign(
        self, suite: RunningSuite, clients: Clients, declared: Write
    ):
        """Of five conversations one repeats another's two exchanges, as many as are shown; one only begins alike."""
        held = [conversation(f"c{number}", "one", "other") for number in range(5)]
        for copy, of, turns in ((3, 0, 4), (4, 1, 2)):
            for turn, said in zip(held[copy]["turns"][:turns], held[of]["turns"], strict=False):
                turn["text"] = said["text"].upper()
        parts = [await import_conversations(suite, part) for part in (held[:3], held[2:])]
        request = declared(self.TEXT.format(*parts))
        said, made = await estimate(clients, request), await declare(clients, request, opens=False)
        assert said.account["conversations"] == {"used": 5, "too_short": 0}
        for account in (said.account, made.account):
            assert account["repeated_texts"] == [{"speakers": ["one", "other"], "conversations": 5, "texts": 4}]

    async def test_collections_that_do_not_go_together_are_reported_with_the_reason(
        self, suite: RunningSuite, clients: Clients, declared: Write, text: str
    ):
        twins = [
            await import_conversations(suite, [conversation("twin", "one", "other", exchanges=length)])
            for length in (3, 4)
        ]
        for attempt in (declare, estimate):
            for request, message in (
                (
                    f"{text}human_share: 0.7",
                    r"line 6: human_share: A share .* needs 14 human .* there are 5: lower it\.$",
                ),
                (self.TEXT.format(*twins), r"line 2: collections: Two conversations .* are called 'twin'"),
            ):
                with pytest.raises(DeclarationFaulty, match=message):
                    await (
                        declare(clients, declared(request), opens=True)
                        if attempt is declare
                        else estimate(clients, declared(request))
                    )
        admin = await suite.client("conversations", "admin")
        other = await created(admin, "/v1/collections", {"mode": "import", "name": "other", "domain": "empathetic"})
        wrong = declared(SMALL.replace("[im]", f"['{other['id']}', other]"))
        with pytest.raises(DeclarationFaulty, match=r"collections\[1\]: the collection 'other' is named twice"):
            await declare(clients, wrong, opens=True)
        wrong = declared(text.replace("['", "[other, '"))
        with pytest.raises(DeclarationFaulty, match=r"'im' is of the domain 'everyday', 'other' of 'empathetic'"):
            await declare(clients, wrong, opens=True)
