"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from spotthebot.kit.web.database.schema import create_idempotency_table

revision = "bots_0001"
down_revision = None
branch_labels = None
depends_on = None

_SCHEMA = "bots"
_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def upgrade() -> None:
    op.create_table(
        "bots",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("team", sa.String(100)),
        sa.Column("description", sa.String(2000), nullable=False),
        sa.Column("domains", postgresql.ARRAY(sa.String(50)), nullable=False),
        sa.Column("limits", _JSON, server_default="{}", nullable=False),
        sa.Column("public", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("status", sa.String(20), server_default="active", nullable=False),
        sa.Column("status_reason", sa.String(1000)),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("probe", _JSON),
        sa.Column("failed_probes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_probe_at", _MOMENT),
        sa.Column("paused_until", _MOMENT),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_bots"),
        sa.UniqueConstraint("team", "name", name="uq_bots_team_name", postgresql_nulls_not_distinct=True),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_bots_next_probe_at",
        "bots",
        ["next_probe_at"],
        schema=_SCHEMA,
        postgresql_where=sa.text("next_probe_at IS NOT NULL"),
    )
    op.create_table(
        "hosted_models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("backend", sa.String(20), nullable=False),
        sa.Column("directory", sa.String(500)),
        sa.Column("max_batch_size", sa.Integer(), nullable=False),
        sa.Column("max_queue_delay_ms", sa.Double(), nullable=False),
        sa.Column("device", sa.String(20), nullable=False),
        sa.Column("dtype", sa.String(20), nullable=False),
        sa.Column("files_sha256", sa.String(64)),
        sa.Column("lease_id", sa.Uuid()),
        sa.Column("leased_until", _MOMENT),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_hosted_models"),
        sa.UniqueConstraint("name", name="uq_hosted_models_name"),
        schema=_SCHEMA,
    )
    op.create_table(
        "bot_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("protocol", _JSON, nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary()),
        sa.Column("training_sha256", sa.String(64)),
        sa.Column("files_sha256", sa.String(64)),
        sa.Column("configuration_sha256", sa.String(64), nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_bot_versions"),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.bots.id"], name="fk_bot_versions_bot_id_bots"),
        sa.UniqueConstraint("bot_id", "number", name="uq_bot_versions_bot_id_number"),
        schema=_SCHEMA,
    )
    op.create_table(
        "hosted_model_files",
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("model_id", "name", name="pk_hosted_model_files"),
        sa.ForeignKeyConstraint(
            ["model_id"],
            ["bots.hosted_models.id"],
            name="fk_hosted_model_files_model_id_hosted_models",
            ondelete="CASCADE",
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "probes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("trigger", sa.String(20), nullable=False),
        sa.Column("started_at", _MOMENT, nullable=False),
        sa.Column("report", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_probes"),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.bots.id"], name="fk_probes_bot_id_bots"),
        schema=_SCHEMA,
    )
    op.create_index("ix_probes_bot_id_id", "probes", ["bot_id", "id"], schema=_SCHEMA)
    create_idempotency_table(_SCHEMA, early_claims=True)
