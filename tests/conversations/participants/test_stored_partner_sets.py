"""What the store keeps of partner sets."""

import pytest

from spotthebot.conversations.participants import store as participants_store
from spotthebot.conversations.participants.domain import Partner
from spotthebot.conversations.participants.errors import NoSuchPartnerSet
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase


class TestPartnerSets:
    async def test_are_numbered_from_one_under_each_name(self, stored: SavepointDatabase):
        partners = [Partner(new_id(), name, 3, 64 * "a") for name in ("one", "two")]
        async with stored.write() as session:
            made = [
                await participants_store.add_partner_set(session, name=name, description=name[0], partners=partners[:n])
                for name, n in (("mine", 2), ("other", 1), ("mine", 1))
            ]
            found = await participants_store.get_partner_set(session, "mine", 2)
            for name, version in (("mine", 3), ("mine", 0), ("third", 1)):
                with pytest.raises(NoSuchPartnerSet):
                    await participants_store.get_partner_set(session, name, version)
            lists = participants_store.list_partner_sets
            pages = [
                await lists(session, name=name, after=after, limit=limit)
                for name, after, limit in (
                    (None, None, 2),
                    (None, made[1].id, 9),
                    ("mine", None, 9),
                    ("mine", made[0].id, 9),
                )
            ]
        assert [(each.name, each.version, each.description) for each in made] == [
            ("mine", 1, "m"),
            ("other", 1, "o"),
            ("mine", 2, "m"),
        ]
        assert [each.partners for each in made] == [(*partners,), (partners[0],), (partners[0],)]
        assert found == made[2]
        assert pages == [made[:2], made[2:], [made[0], made[2]], made[2:]]
