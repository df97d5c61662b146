"""Campaigns whose files list packages of their own, over conversations by the suite's ids or those of exports."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from spotthebot.cli.campaigns.declaration_file import CampaignDeclared, read_declaration
from spotthebot.cli.campaigns.run import declare, estimate
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.studies.declaration_file import read_study
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.local.runtime.session import Clients
from tests.factories.declared_campaigns import Write
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

HEAD = "name: own\ncollections: [im]\nsegments: [1, 2]\nannotations_per_segment: 1\n"


@pytest.fixture
async def ids(suite: RunningSuite) -> list[str]:
    """Return the suite's own ids of four conversations, which exports call c0 to c3."""
    collection = await import_conversations(suite, [conversation(f"c{at}", "one", "other") for at in range(4)])
    client = await suite.conversations("admin")
    found = {each.external_id: str(each.id) async for each in client.list_conversations(UUID(collection))}
    return [found[f"c{at}"] for at in range(4)]


def listed(*packages: tuple[str, int | None, list[tuple[str, int]]]) -> str:
    """Return a file that lists packages: the name, how many annotators, and what each shows."""
    written = [
        {"external_id": name}
        | ({} if annotators is None else {"annotators": annotators})
        | {"segments": [{"conversation": each, "exchanges": exchanges} for each, exchanges in shown]}
        for name, annotators, shown in packages
    ]
    return HEAD + "packages:\n" + "".join(f"- {json.dumps(each)}\n" for each in written)


async def refused(clients: Clients, file: CampaignDeclared) -> list[str]:
    """Return the faults of a file in the order of their lines; its dry run and its creation report the same."""
    found = []
    for attempt in (estimate(clients, file), declare(clients, file, opens=True)):
        with pytest.raises(DeclarationFaulty) as raised:
            await attempt
        found.append(sorted(line.partition(".yaml, ")[2] for line in str(raised.value).splitlines()))
    assert found[0] == found[1]
    return found[0]


class TestCampaign:
    async def test_gives_out_the_listed_packages_as_its_dry_run_said(
        self, clients: Clients, declared: Write, ids: list[str]
    ):
        file = declared(listed(("monday", 3, [(ids[0], 2), ("c1", 1)]), ("tuesday", None, [(ids[2], 1)])))
        said = await estimate(clients, file)
        assert [each async for each in clients.annotation.list_campaigns()] == []
        assert (said.estimate.packages, said.estimate.items, said.estimate.conversations) == (2, 3, 3)
        assert (said.estimate.assignments, said.estimate.annotations) == (3 + 1, 3 * 2 + 1)
        made = await declare(clients, file, opens=True)
        names = ("packages", "items", "conversations", "assignments", "annotations", "annotators", "lengths")
        assert {name: getattr(made.preview, name) for name in names} == {
            name: getattr(said.estimate, name) for name in names
        }
        assert (made.campaign.mode, made.campaign.state) == ("uploaded", CampaignState.OPEN)
        found = {
            each.external_id: [(str(shown.conversation_id), shown.exchanges) for shown in each.segments]
            async for each in clients.annotation.list_packages(made.campaign.id)
        }
        assert found == {"monday": [(ids[0], 2), (ids[1], 1)], "tuesday": [(ids[2], 1)]}
        again = await declare(clients, file, opens=True)
        assert (again.campaign, again.is_new) == (made.campaign, False)
        assert (await estimate(clients, file)).campaign == made.campaign

    async def test_is_uploaded_by_a_second_run_if_the_first_ended_before(
        self, clients: Clients, declared: Write, ids: list[str], monkeypatch: pytest.MonkeyPatch
    ):
        async def ended(*_: object) -> None:
            raise ConnectionError

        file = declared(listed(("monday", None, [(ids[0], 2)])))
        with monkeypatch.context() as patched:
            patched.setattr("spotthebot.cli.campaigns.run.upload_packages", ended)
            with pytest.raises(ConnectionError):
                await declare(clients, file, opens=True)
        made = await declare(clients, file, opens=True)
        assert (made.is_new, made.campaign.packages, made.campaign.state) == (False, 1, CampaignState.OPEN)

    async def test_is_refused_with_every_difference_if_the_name_has_other_packages(
        self, clients: Clients, declared: Write, ids: list[str]
    ):
        await declare(clients, declared(listed(("a", 2, [(ids[0], 2)]), ("b", None, [("c1", 1)]))), opens=True)
        stay = "Packages of a campaign stay: name another campaign, or delete its draft."
        other = declared(listed(("a", 2, [(ids[3], 2)]), ("c", None, [("c1", 1)])))
        assert await refused(clients, other) == [
            f"line 5: packages: the campaign also has the package 'b'. {stay}",
            f"line 6: packages[0]: 'a' shows something else there. {stay}",
            f"line 7: packages[1]: the campaign has no package 'c'. {stay}",
        ]
        more = declared(listed(("a", 3, [(ids[0], 2)]), ("b", None, [(ids[1], 1)])))
        assert await refused(clients, more) == [
            f"line 5: packages: they need 4 annotators in all here, 3 there. {stay}"
        ]

    async def test_is_refused_with_the_lines_before_anything_is_made(
        self, clients: Clients, declared: Write, ids: list[str]
    ):
        text = listed(("a", None, [("nobody", 1)]), ("b", None, [(ids[0], 9)]), ("c", 1, [(ids[1], 1)]))
        text = text.replace("per_segment: 1", "per_segment: 2")
        assert await refused(clients, declared(text)) == [
            "line 6: packages[0].segments[0]: conversation nobody is not in the campaign's collections.",
            f"line 7: packages[1].segments[0]: conversation {ids[0]} has 3 exchanges, not 9.",
            "line 8: packages[2].annotators: must be at least 2: the campaign's annotations_per_segment.",
        ]
        assert [each async for each in clients.annotation.list_campaigns()] == []


class TestFile:
    def test_says_how_packages_are_drawn_or_lists_them(self, tmp_path: Path):
        file = tmp_path / "own.yaml"
        text = listed(("a", None, [("x", 1)]), ("a", None, [("y", 1)])).replace("annotations_per_segment: 1\n", "")
        said = "the listed packages say what they show and who sees it: leave this key out."
        file.write_text(f"{text}units_twice: 1\nhuman_share: 0.2\n")
        with pytest.raises(DeclarationFaulty) as raised:
            read_declaration(file)
        lines = {line.partition(".yaml, ")[2] for line in str(raised.value).splitlines()}
        twice = "packages[1].external_id: another package is called 'a': name each differently."
        assert lines == {
            f"line 8: human_share: {said}",
            f"line 7: units_twice: {said}",
            f"line 6: {twice}",
        }
        task = "name: s\ncollections: [im]\ntasks:\n- protocol: dialogue_likert\n  pairs: any\n  packages:\n"
        file.write_text(task + '  - {external_id: a, segments: [{conversation: x, exchanges: "one"}], people: 3}\n')
        with pytest.raises(DeclarationFaulty) as raised:
            read_study(file)
        found = str(raised.value)
        assert "line 7: tasks[0].packages[0].people: there is no such key" in found
        assert "line 7: tasks[0].packages[0].segments[0].exchanges: must be a whole number" in found
        file.write_text(task + "  - {external_id: a, segments: [{conversation: x, exchanges: 1}]}\n")
        with pytest.raises(DeclarationFaulty, match=r"line 5: tasks\[0\].pairs: the listed packages say"):
            read_study(file)
