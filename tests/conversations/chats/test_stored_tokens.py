"""What the store makes of chats' tokens."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from spotthebot.conversations.chats.errors import ChatTokenExpired, NoSuchChat, NoSuchChatToken
from spotthebot.conversations.chats.store import tokens as tokens_store
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.databases import DatabaseUrls
from tests.factories.stored_collections import NOON, bot, store_chats, store_collection

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestTokens:
    async def test_open_their_own_chat_until_they_expire_or_another_replaces_them(self, database_urls: DatabaseUrls):
        database = Database(database_urls.app["conversations"], pool_size=1)
        at, moment = datetime(2026, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
        check = tokens_store.check_token

        async def is_refused(token: str, chat: UUID) -> bool:
            with pytest.raises(NoSuchChatToken):
                await check(database, token, str(chat), NOON - timedelta(days=1))
            return True

        async with database.write() as session:
            mine = await store_collection(session, SIDES, mode="human_bot")
            first, second, bare = await store_chats(session, mine, 3)
            old = await tokens_store.replace_token(session, first, at)
            token = await tokens_store.replace_token(session, first, at)
            other = await tokens_store.replace_token(session, second, at)
            with pytest.raises(NoSuchChat):
                await tokens_store.replace_token(session, new_id(), at)
        for path in (str(first), str(first).upper()):
            assert await check(database, token, path, at - moment) == (first, at)
        with pytest.raises(ChatTokenExpired):
            await check(database, token, str(first), at)
        unknown = token.replace(first.hex, bare.hex), token.replace(first.hex, ONE.hex)
        for given, chat in (
            (old, first),
            (other, first),
            (token, second),
            (unknown[0], bare),
            (unknown[1], ONE),
            (f"{token[:-1]}{'a' if token[-1] != 'a' else 'b'}", first),
            ("token", first),
        ):
            assert await is_refused(given, chat)
        await database.close()
        assert [tokens_store.is_chat_token(each) for each in (token, "stb_admin_x")] == [True, False]
