"""Gold items, strikes and fast packages."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "annotation_0021"
down_revision = "annotation_0020"
branch_labels = None
depends_on = None

_SCHEMA = "annotation"


def upgrade() -> None:
    for column in (
        sa.Column("gold", postgresql.JSONB(), nullable=True),
        sa.Column("max_strikes", sa.Integer(), nullable=True),
        sa.Column("min_seconds_per_item", sa.Float(), nullable=True),
        sa.Column("strike_fast_packages", sa.Boolean(), server_default="false", nullable=False),
    ):
        op.add_column("campaigns", column, schema=_SCHEMA)
    for name in ("gold_right", "gold_wrong", "fast_items", "fast_packages", "strikes"):
        op.add_column("annotators", sa.Column(name, sa.Integer(), server_default="0", nullable=False), schema=_SCHEMA)
    op.create_table(
        "gold_items",
        sa.Column("assignment_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("dialogue", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("mistakes", sa.Integer(), nullable=True),
        sa.Column("is_right", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["annotation.assignments.id"], name="fk_gold_items_assignment_id_assignments"
        ),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_gold_items_annotator_id_annotators"
        ),
        sa.PrimaryKeyConstraint("assignment_id", "position", name="pk_gold_items"),
        sa.UniqueConstraint("annotator_id", "dialogue", name="uq_gold_items_annotator_id_dialogue"),
        schema=_SCHEMA,
    )
