"""Erasure of a person from the stored answers of a service."""

import json
from collections.abc import Iterable
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import Table, delete, func, literal, or_

from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.text.names import is_unlike_a_word


async def delete_answers_about(session: WriteSession, idempotency: Table, name: str, ids: Iterable[UUID]) -> None:
    """Delete stored answers that contain a person's `name`, or that contain or belong to things with these `ids`.

    A name that could be a word counts only as the whole value of a field. Otherwise repeats of unrelated requests would
    lose their answers.
    """
    in_json = json.dumps(name, ensure_ascii=False)
    as_written = {name, in_json[1:-1], quote(name, safe="")} if is_unlike_a_word(name) else {f":{in_json}"}
    ours = {str(each) for each in ids}
    columns = idempotency.c
    in_body = [func.position(literal(each.encode()).op("IN")(columns.body)) > 0 for each in sorted(as_written | ours)]
    in_path = [func.strpos(columns.path, each) > 0 for each in sorted(ours)]
    in_key = func.strpos(columns.key, name) > 0 if is_unlike_a_word(name) else columns.key == name
    await session.execute(delete(idempotency).where(or_(*in_body, *in_path, in_key)))
