"""Versions, statuses, probes and hosted models; bots that are there become their own first version."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "bots_0002"
down_revision = "bots_0001"
branch_labels = None
depends_on = None

_NOW = sa.text("now()")


def upgrade() -> None:
    json = postgresql.JSONB(astext_type=sa.Text())
    moment = sa.DateTime(timezone=True)
    for column in (
        sa.Column("limits", json, server_default="{}", nullable=False),
        sa.Column("status", sa.String(length=20), server_default="active", nullable=False),
        sa.Column("status_reason", sa.String(length=1000), nullable=True),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("probe", json, nullable=True),
        sa.Column("failed_probes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_probe_at", moment, nullable=True),
    ):
        op.add_column("bots", column, schema="bots")
    due = sa.text("next_probe_at IS NOT NULL")
    op.create_index("ix_bots_next_probe_at", "bots", ["next_probe_at"], schema="bots", postgresql_where=due)
    op.create_table(
        "bot_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("protocol", json, nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=True),
        sa.Column("training_sha256", sa.String(length=64), nullable=True),
        sa.Column("files_sha256", sa.String(length=64), nullable=True),
        sa.Column("configuration_sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", moment, server_default=_NOW, nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.bots.id"], name=op.f("fk_bot_versions_bot_id_bots")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_versions")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_bot_versions_bot_id_number")),
        schema="bots",
    )
    op.create_table(
        "probes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("trigger", sa.String(length=20), nullable=False),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("report", json, nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.bots.id"], name=op.f("fk_probes_bot_id_bots")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_probes")),
        schema="bots",
    )
    op.create_index("ix_probes_bot_id_id", "probes", ["bot_id", "id"], schema="bots")
    op.create_table(
        "hosted_models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("backend", sa.String(length=20), nullable=False),
        sa.Column("directory", sa.String(length=500), nullable=True),
        sa.Column("max_batch_size", sa.Integer(), nullable=False),
        sa.Column("max_queue_delay_ms", sa.Float(), nullable=False),
        sa.Column("device", sa.String(length=20), nullable=False),
        sa.Column("dtype", sa.String(length=20), nullable=False),
        sa.Column("files_sha256", sa.String(length=64), nullable=True),
        sa.Column("created_at", moment, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosted_models")),
        sa.UniqueConstraint("name", name=op.f("uq_hosted_models_name")),
        schema="bots",
    )
    op.create_table(
        "hosted_model_files",
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"],
            ["bots.hosted_models.id"],
            name=op.f("fk_hosted_model_files_model_id_hosted_models"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("model_id", "name", name=op.f("pk_hosted_model_files")),
        schema="bots",
    )
    op.execute(
        "INSERT INTO bots.bot_versions (id, bot_id, number, protocol, training_sha256, configuration_sha256, "
        "created_at) SELECT gen_random_uuid(), id, 1, protocol, training_sha256, configuration_sha256, created_at "
        "FROM bots.bots"
    )
    for name in ("protocol", "configuration_sha256"):  # the release before writes them, this one does not
        op.alter_column("bots", name, nullable=True, schema="bots")
