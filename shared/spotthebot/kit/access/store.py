"""All SQL of API keys is here."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, any_, bindparam, insert, select, update
from sqlalchemy.dialects.postgresql import insert as insert_or_keep

from spotthebot.kit.access.keys import ApiKey, Principal, hash_secret, make_key, parse_key, same_secret
from spotthebot.kit.access.tables import ApiKeyRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statement_pool import BatchedLookup, StatementPool
from spotthebot.kit.database.statements import Statement
from spotthebot.kit.errors import NotFound, Unauthenticated
from spotthebot.kit.ids import new_id

_BY_IDS = Statement(
    select(
        ApiKeyRow.id,
        ApiKeyRow.role,
        ApiKeyRow.team,
        ApiKeyRow.secret_sha256,
        ApiKeyRow.expires_at,
        ApiKeyRow.revoked_at,
    ).where(ApiKeyRow.id == any_(bindparam("ids", type_=ARRAY(Uuid))))
)


class UnknownKey(Unauthenticated):
    """This API key is not known: check that it was copied whole, or ask for a new one."""

    title = "Unknown API key"
    problem_name = "unknown-key"


class MalformedKey(UnknownKey):
    """This is not an API key, which has the form stb_ROLE_ID_SECRET: check that it was copied whole."""


class ExpiredKey(Unauthenticated):
    """This API key expired on {expired_on}: ask for a new one."""

    title = "Expired API key"


class RevokedKey(Unauthenticated):
    """This API key was revoked: ask for a new one."""

    title = "Revoked API key"


class NoSuchKey(NotFound):
    """There is no API key with the id {key_id}."""


async def create_key(
    session: WriteSession, *, role: str, team: str | None, note: str = "", expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """Store a new key. Return it with its text, which can't be read again later."""
    key_id = new_id()
    text, digest = make_key(role, key_id)
    await session.execute(
        insert(ApiKeyRow).values(
            id=key_id, role=role, team=team, note=note, secret_sha256=digest, expires_at=expires_at
        )
    )
    return await _get(session, key_id), text


async def keep_key(session: WriteSession, key_id: UUID, secret: str, *, role: str, note: str) -> bool:
    """Store a key that was made elsewhere. Return False if the key's id is already stored with another secret."""
    row = {"id": key_id, "role": role, "team": None, "note": note, "secret_sha256": hash_secret(secret)}
    await session.execute(insert_or_keep(ApiKeyRow).values(row).on_conflict_do_nothing())
    stored = await session.scalar(select(ApiKeyRow.secret_sha256).where(ApiKeyRow.id == key_id))
    return stored is not None and same_secret(secret, stored)


async def list_keys(session: ReadSession) -> list[ApiKey]:
    """Return all keys, oldest first. There are few, since only an operator makes them."""
    return [_key(row) for row in await session.scalars(select(ApiKeyRow).order_by(ApiKeyRow.id))]


async def revoke_key(session: WriteSession, key_id: UUID, now: datetime) -> ApiKey:
    """Revoke a key at once; revoking it again changes nothing."""
    await session.execute(
        update(ApiKeyRow).where(ApiKeyRow.id == key_id, ApiKeyRow.revoked_at.is_(None)).values(revoked_at=now)
    )
    return await _get(session, key_id)


class Authenticator:
    """Finds the caller of a request by its API key.

    It reads the key from the database at every request, so a revoked key is refused at once.
    """

    def __init__(self, statements: StatementPool) -> None:
        self._statements = statements
        self._rows = BatchedLookup(self._fetch)

    async def authenticate(self, text: str, now: datetime) -> Principal:
        """Return the caller that this API key belongs to.

        Raises UnknownKey or MalformedKey. Raises ExpiredKey or RevokedKey only if the secret is right.
        """
        parsed = parse_key(text)
        if parsed is None:
            raise MalformedKey
        key_id, secret = parsed
        row = await self._rows.find(key_id)
        if row is None or not same_secret(secret, row.secret_sha256):
            raise UnknownKey
        if row.revoked_at is not None:
            raise RevokedKey
        if row.expires_at is not None and row.expires_at <= now:
            raise ExpiredKey(expired_on=row.expires_at.date())
        return Principal(row.id, row.role, row.team)

    async def _fetch(self, key_ids: Sequence[UUID]) -> Mapping[UUID, Any]:
        return {row.id: row for row in await self._statements.fetch(_BY_IDS, {"ids": list(key_ids)})}


async def _get(session: ReadSession, key_id: UUID) -> ApiKey:
    row = await session.get(ApiKeyRow, key_id)
    if row is None:
        raise NoSuchKey(key_id=key_id)
    return _key(row)


def _key(row: ApiKeyRow) -> ApiKey:
    return ApiKey(row.id, row.role, row.team, row.note, row.created_at, row.expires_at, row.revoked_at)
