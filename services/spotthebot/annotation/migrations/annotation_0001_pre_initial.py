"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from spotthebot.kit.jobs import create_job_tables

revision = "annotation_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("domain", sa.String(length=50), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("mode", sa.String(length=20), nullable=False),
        sa.Column("segments", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.Column("annotations_per_segment", sa.Integer(), nullable=False),
        sa.Column("package_size", sa.Integer(), nullable=False),
        sa.Column("instructions", sa.Text(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("built_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
        schema="annotation",
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("principal", sa.Uuid(), nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("body_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("principal", "path", "key", name=op.f("pk_idempotency_keys")),
        schema="annotation",
    )
    op.create_index(
        "ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False, schema="annotation"
    )
    op.create_table(
        "packages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name=op.f("fk_packages_campaign_id_campaigns")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_packages")),
        sa.UniqueConstraint("campaign_id", "external_id", name=op.f("uq_packages_campaign_id_external_id")),
        schema="annotation",
    )
    op.create_index(op.f("ix_packages_campaign_id"), "packages", ["campaign_id"], unique=False, schema="annotation")
    op.create_table(
        "shown_conversations",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("opening", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("turns", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name=op.f("fk_shown_conversations_campaign_id_campaigns")
        ),
        sa.PrimaryKeyConstraint("campaign_id", "conversation_id", name=op.f("pk_shown_conversations")),
        sa.UniqueConstraint("campaign_id", "external_id", name=op.f("uq_shown_conversations_campaign_id_external_id")),
        schema="annotation",
    )
    op.create_table(
        "assignments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("package_id", sa.Uuid(), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completion_code", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name=op.f("fk_assignments_campaign_id_campaigns")
        ),
        sa.ForeignKeyConstraint(
            ["package_id"], ["annotation.packages.id"], name=op.f("fk_assignments_package_id_packages")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
        sa.UniqueConstraint("package_id", "worker", name=op.f("uq_assignments_package_id_worker")),
        schema="annotation",
    )
    op.create_index(
        op.f("ix_assignments_campaign_id_state"),
        "assignments",
        ["campaign_id", "state"],
        unique=False,
        schema="annotation",
    )
    op.create_index(
        op.f("ix_assignments_campaign_id_worker"),
        "assignments",
        ["campaign_id", "worker"],
        unique=False,
        schema="annotation",
    )
    op.create_table(
        "segments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("package_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("exchanges", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id", "conversation_id"],
            ["annotation.shown_conversations.campaign_id", "annotation.shown_conversations.conversation_id"],
            name=op.f("fk_segments_campaign_id_conversation_id_shown_conversations"),
        ),
        sa.ForeignKeyConstraint(
            ["package_id"], ["annotation.packages.id"], name=op.f("fk_segments_package_id_packages")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_segments")),
        sa.UniqueConstraint(
            "campaign_id",
            "conversation_id",
            "exchanges",
            name=op.f("uq_segments_campaign_id_conversation_id_exchanges"),
        ),
        schema="annotation",
    )
    op.create_index(op.f("ix_segments_package_id"), "segments", ["package_id"], unique=False, schema="annotation")
    op.create_table(
        "annotations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("segment_id", sa.Uuid(), nullable=False),
        sa.Column("assignment_id", sa.Uuid(), nullable=True),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("label_a", sa.String(length=10), nullable=False),
        sa.Column("label_b", sa.String(length=10), nullable=False),
        sa.Column("fluency", sa.String(length=10), nullable=False),
        sa.Column("sensibleness", sa.String(length=10), nullable=False),
        sa.Column("specificity", sa.String(length=10), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("elapsed_ms", sa.BigInteger(), nullable=True),
        sa.Column("completion_code", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["annotation.assignments.id"], name=op.f("fk_annotations_assignment_id_assignments")
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name=op.f("fk_annotations_campaign_id_campaigns")
        ),
        sa.ForeignKeyConstraint(
            ["segment_id"], ["annotation.segments.id"], name=op.f("fk_annotations_segment_id_segments")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotations")),
        sa.UniqueConstraint("assignment_id", "segment_id", name=op.f("uq_annotations_assignment_id_segment_id")),
        sa.UniqueConstraint("campaign_id", "external_id", name=op.f("uq_annotations_campaign_id_external_id")),
        schema="annotation",
    )
    op.create_index(
        op.f("ix_annotations_campaign_id_id"), "annotations", ["campaign_id", "id"], unique=False, schema="annotation"
    )
    op.create_index(op.f("ix_annotations_segment_id"), "annotations", ["segment_id"], unique=False, schema="annotation")
    create_job_tables(op.get_bind(), "annotation")
