"""Open campaigns of any size, written straight into the tables of `annotation`: no collection, no job, no worker."""

from uuid import UUID, uuid4

import psycopg

_CAMPAIGN = """
    INSERT INTO annotation.campaigns (id, name, domain, collection_id, mode, segments, annotations_per_segment,
        package_size, packages_per_annotator, lease_seconds, instructions, seed, state, packages, items,
        protocol_name)
    VALUES (%(id)s, 'filled', 'everyday', gen_random_uuid(), 'live', ARRAY[1, 2, 3], %(redundancy)s,
        %(size)s, %(limit)s, %(lease_seconds)s, '', 0, %(state)s, %(packages)s, %(packages)s * %(size)s,
        %(protocol)s)
"""
# Ids are digests of the campaign and a number, so that each statement knows the ids of the one before.
_CONVERSATION_ID = "md5(%(id)s || 'conversation' || {number})::uuid"
_PACKAGE_ID = "md5(%(id)s || 'package' || {number})::uuid"
_CONVERSATIONS = f"""
    INSERT INTO annotation.shown_conversations (campaign_id, conversation_id, opening, turns)
    SELECT %(id)s::uuid, {_CONVERSATION_ID.format(number="number")}, '[]', (
        SELECT jsonb_agg(jsonb_build_object('speaker', side, 'text', 'Turn ' || turn || ' of ' || number))
        FROM generate_series(1, 3) AS turn, unnest(ARRAY['A', 'B']) AS side)
    FROM generate_series(0, (%(packages)s + 2) / 3 * %(size)s - 1) AS number
"""  # noqa: S608 - no input
_PACKAGES = f"""
    INSERT INTO annotation.packages (id, campaign_id, block, slots_left)
    SELECT {_PACKAGE_ID.format(number="number")}, %(id)s::uuid, number / 3, %(redundancy)s
    FROM generate_series(0, %(packages)s - 1) AS number
"""  # noqa: S608 - no input
_ITEMS = f"""
    INSERT INTO annotation.items (id, campaign_id, package_id, conversation_id, exchanges, position, speakers)
    SELECT gen_random_uuid(), %(id)s::uuid, {_PACKAGE_ID.format(number="number")},
        {_CONVERSATION_ID.format(number="(number / 3 * %(size)s + place)")},
        1 + (number + place) %% 3, place, repeat('AB', 1 + (number + place) %% 3)
    FROM generate_series(0, %(packages)s - 1) AS number, generate_series(0, %(size)s - 1) AS place
"""  # noqa: S608 - no input


def fill_campaign(
    owner_url: str,
    *,
    packages: int,
    size: int,
    redundancy: int = 2,
    limit: int | None = None,
    lease_seconds: int = 3600,
    state: str = "open",
    protocol: str = "spot_the_bot",
) -> UUID:
    """Write a campaign of version 1 of a protocol and return its id.

    Three packages of `size` items each show the same conversations, at one, two and three exchanges.
    """
    campaign_id = uuid4()
    values = {
        "id": str(campaign_id),
        "packages": packages,
        "size": size,
        "redundancy": redundancy,
        "limit": limit,
        "lease_seconds": lease_seconds,
        "state": state,
        "protocol": protocol,
    }
    # Placeholders are filled here: PostgreSQL could not tell the types of those that are used in several places.
    with psycopg.ClientCursor(psycopg.connect(owner_url)) as cursor, cursor.connection:
        for statement in (_CAMPAIGN, _CONVERSATIONS, _PACKAGES, _ITEMS):
            cursor.execute(statement.encode(), values)
    return campaign_id
