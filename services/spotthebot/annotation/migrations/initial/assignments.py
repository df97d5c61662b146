"""The tables of leased packages and their answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_SCHEMA = "annotation"
_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)


def create_tables() -> None:
    """Create the tables, referenced tables first."""
    op.create_table(
        "assignments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("package_id", sa.Uuid(), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("leased_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("submitted_at", _MOMENT),
        sa.Column("completion_code", sa.String(100)),
        sa.Column("heard_at", _MOMENT),
        sa.Column("heard_position", sa.Integer()),
        sa.Column("takes_slot", sa.Boolean(), server_default="true", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_assignments_annotator_id_annotators"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_assignments_campaign_id_campaigns"
        ),
        sa.ForeignKeyConstraint(["package_id"], ["annotation.packages.id"], name="fk_assignments_package_id_packages"),
        sa.UniqueConstraint("package_id", "annotator_id", name="uq_assignments_package_id_annotator_id"),
        schema=_SCHEMA,
    )
    op.create_index("ix_assignments_annotator_id_state", "assignments", ["annotator_id", "state"], schema=_SCHEMA)
    op.create_index(
        "ix_assignments_of_judges",
        "assignments",
        ["annotator_id", "package_id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("NOT takes_slot"),
    )
    op.create_index(
        "ix_assignments_leased",
        "assignments",
        ["campaign_id", "expires_at"],
        schema=_SCHEMA,
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.create_table(
        "gold_items",
        sa.Column("assignment_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("dialogue", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("opening", sa.Integer(), server_default="0", nullable=False),
        sa.Column("mistakes", sa.Integer()),
        sa.Column("is_right", sa.Boolean()),
        sa.PrimaryKeyConstraint("assignment_id", "position", name="pk_gold_items"),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_gold_items_annotator_id_annotators"
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["annotation.assignments.id"], name="fk_gold_items_assignment_id_assignments"
        ),
        sa.UniqueConstraint("annotator_id", "dialogue", name="uq_gold_items_annotator_id_dialogue"),
        schema=_SCHEMA,
    )
    op.create_table(
        "answers",
        sa.Column("assignment_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("answer", _JSON, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("served_at", _MOMENT),
        sa.Column("first_saved_at", _MOMENT),
        sa.Column("saved_at", _MOMENT),
        sa.Column("active_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reported_ms", sa.BigInteger()),
        sa.Column("opened_at", postgresql.ARRAY(_MOMENT), server_default="{}", nullable=False),
        sa.Column("decisions", _JSON, server_default="[]", nullable=False),
        sa.PrimaryKeyConstraint("assignment_id", "position", name="pk_answers"),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["annotation.assignments.id"], name="fk_answers_assignment_id_assignments"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "answer_revisions",
        sa.Column("assignment_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("answer", _JSON, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("saved_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("assignment_id", "position", "version", name="pk_answer_revisions"),
        schema=_SCHEMA,
    )
    op.create_table(
        "annotations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("assignment_id", sa.Uuid()),
        sa.Column("external_id", sa.String(200)),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("answer", _JSON, nullable=False),
        sa.Column("judge_labels", _JSON),
        sa.Column("started_at", _MOMENT),
        sa.Column("ended_at", _MOMENT),
        sa.Column("elapsed_ms", sa.BigInteger()),
        sa.Column("reported_ms", sa.BigInteger()),
        sa.Column("completion_code", sa.String(100)),
        sa.Column("decisions", _JSON, server_default="[]", nullable=False),
        sa.Column("question_order", postgresql.ARRAY(sa.String(50)), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_annotations"),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_annotations_annotator_id_annotators"
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["annotation.assignments.id"], name="fk_annotations_assignment_id_assignments"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_annotations_campaign_id_campaigns"
        ),
        sa.ForeignKeyConstraint(["item_id"], ["annotation.items.id"], name="fk_annotations_item_id_items"),
        sa.UniqueConstraint("assignment_id", "item_id", name="uq_annotations_assignment_id_item_id"),
        sa.UniqueConstraint("campaign_id", "external_id", name="uq_annotations_campaign_id_external_id"),
        schema=_SCHEMA,
    )
    op.create_index("ix_annotations_annotator_id", "annotations", ["annotator_id"], schema=_SCHEMA)
    op.create_index("ix_annotations_campaign_id_id", "annotations", ["campaign_id", "id"], schema=_SCHEMA)
    op.create_index("ix_annotations_item_id", "annotations", ["item_id"], schema=_SCHEMA)
