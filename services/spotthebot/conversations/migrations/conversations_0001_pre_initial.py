"""The first tables."""

from alembic import op

from spotthebot.conversations.migrations.initial import chats, collections, corpora, quality
from spotthebot.kit.events.schema import create_event_tables
from spotthebot.kit.jobs.schema import create_job_tables
from spotthebot.kit.web.database.schema import create_idempotency_table

revision = "conversations_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    corpora.create_tables()
    collections.create_tables()
    quality.create_tables()
    chats.create_tables()
    create_event_tables("conversations")
    create_idempotency_table("conversations")
    create_job_tables(op.get_bind(), "conversations")
