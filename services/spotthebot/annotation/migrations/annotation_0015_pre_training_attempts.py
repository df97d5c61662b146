"""Trainings that campaigns require, and annotators' attempts at them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "annotation_0015"
down_revision = "annotation_0014"
branch_labels = None
depends_on = None

_SCHEMA = "annotation"


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("training", postgresql.JSONB(), nullable=True), schema=_SCHEMA)
    op.create_table(
        "training_attempts",
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_training_attempts_annotator_id_annotators"
        ),
        sa.PrimaryKeyConstraint("annotator_id", "attempt", name="pk_training_attempts"),
        schema=_SCHEMA,
    )
    op.create_table(
        "training_answers",
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("answer", postgresql.JSONB(), nullable=False),
        sa.Column("mistakes", sa.Integer(), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id", "attempt"],
            ["annotation.training_attempts.annotator_id", "annotation.training_attempts.attempt"],
            name="fk_training_answers_annotator_id_attempt_training_attempts",
        ),
        sa.PrimaryKeyConstraint("annotator_id", "attempt", "position", name="pk_training_answers"),
        schema=_SCHEMA,
    )
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON annotation.training_answers"
        " FOR EACH ROW EXECUTE FUNCTION annotation.refuse_change()"
    )
