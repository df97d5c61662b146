"""A key for the pseudonyms of each campaign's annotators."""

from alembic import op

revision = "annotation_0016"
down_revision = "annotation_0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE annotation.campaigns ADD COLUMN pseudonym_key bytea NOT NULL
        DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
        """
    )
