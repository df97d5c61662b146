"""What answers is in the versions only."""

from alembic import op

revision = "bots_0003"
down_revision = "bots_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "INSERT INTO bots.bot_versions (id, bot_id, number, protocol, training_sha256, configuration_sha256, "
        "created_at) SELECT gen_random_uuid(), id, 1, protocol, training_sha256, configuration_sha256, created_at "
        "FROM bots.bots WHERE protocol IS NOT NULL ON CONFLICT DO NOTHING"
    )
    for name in ("protocol", "training_sha256", "configuration_sha256"):
        op.drop_column("bots", name, schema="bots")
