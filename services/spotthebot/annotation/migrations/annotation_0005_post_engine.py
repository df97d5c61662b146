"""Leases, drafts and submitted answers of any protocol; counters; one row for each annotator."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "annotation_0005"
down_revision = "annotation_0004"
branch_labels = None
depends_on = None

_SCHEMA = "annotation"


def upgrade() -> None:
    _items()
    _annotators()
    _assignments()
    _answers()
    _annotations()
    _counters()
    _audit_log()


def _items() -> None:
    op.rename_table("segments", "items", schema=_SCHEMA)
    for before, after in (
        ("pk_segments", "pk_items"),
        ("fk_segments_campaign_id_conversation_id_shown_conversations", None),
        ("fk_segments_package_id_packages", "fk_items_package_id_packages"),
        (
            "uq_segments_campaign_id_conversation_id_exchanges",
            "uq_items_campaign_id_conversation_id_exchanges",
        ),
    ):
        name = after or "fk_items_campaign_id_conversation_id_shown_conversations"
        op.execute(f"ALTER TABLE annotation.items RENAME CONSTRAINT {before} TO {name}")
    op.add_column("items", sa.Column("speakers", sa.Text(), nullable=True), schema=_SCHEMA)
    op.execute(
        """
        UPDATE annotation.items AS item SET speakers = coalesce((
            SELECT string_agg(turn ->> 'speaker', '' ORDER BY part, number)
            FROM (VALUES (1, shown.opening), (2, shown.turns)) AS parts (part, content),
                jsonb_array_elements(content) WITH ORDINALITY AS turns (turn, number)
            WHERE part = 1 OR number <= 2 * item.exchanges), '')
        FROM annotation.shown_conversations AS shown
        WHERE shown.campaign_id = item.campaign_id AND shown.conversation_id = item.conversation_id
        """
    )
    op.alter_column("items", "speakers", nullable=False, schema=_SCHEMA)
    op.drop_index("ix_segments_package_id", "items", schema=_SCHEMA)
    op.create_unique_constraint("uq_items_package_id_position", "items", ["package_id", "position"], schema=_SCHEMA)


def _annotators() -> None:
    op.create_table(
        "annotators",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("frontend", sa.String(length=200), server_default="", nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("blocked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("blocked_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_annotators_campaign_id_campaigns"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_annotators"),
        sa.UniqueConstraint(
            "campaign_id", "external_id", "frontend", name="uq_annotators_campaign_id_external_id_frontend"
        ),
        schema=_SCHEMA,
    )
    op.execute(
        """
        INSERT INTO annotation.annotators (id, campaign_id, external_id)
        SELECT gen_random_uuid(), campaign_id, annotator FROM (
            SELECT campaign_id, annotator FROM annotation.assignments
            UNION SELECT campaign_id, annotator FROM annotation.annotations
        ) AS named
        """
    )
    op.create_table(
        "seen_conversations",
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_seen_conversations_annotator_id_annotators"
        ),
        sa.PrimaryKeyConstraint("annotator_id", "conversation_id", name="pk_seen_conversations"),
        schema=_SCHEMA,
    )
    op.execute(
        """
        INSERT INTO annotation.seen_conversations (annotator_id, conversation_id)
        SELECT DISTINCT annotators.id, items.conversation_id
        FROM annotation.assignments
        JOIN annotation.annotators
            ON annotators.campaign_id = assignments.campaign_id AND annotators.external_id = assignments.annotator
        JOIN annotation.items ON items.package_id = assignments.package_id
        """
    )


def _assignments() -> None:
    _refer_to_annotators("assignments")
    op.alter_column("assignments", "claimed_at", new_column_name="leased_at", schema=_SCHEMA)
    op.alter_column("assignments", "completed_at", new_column_name="submitted_at", schema=_SCHEMA)
    op.add_column("assignments", sa.Column("heard_at", sa.DateTime(timezone=True), nullable=True), schema=_SCHEMA)
    op.execute(
        "UPDATE annotation.assignments SET state = CASE state"
        " WHEN 'claimed' THEN 'leased' WHEN 'complete' THEN 'submitted' ELSE state END"
    )
    op.drop_constraint("uq_assignments_package_id_annotator", "assignments", schema=_SCHEMA)
    op.drop_index("ix_assignments_campaign_id_state", "assignments", schema=_SCHEMA)
    op.drop_index("ix_assignments_campaign_id_annotator", "assignments", schema=_SCHEMA)
    op.create_unique_constraint(
        "uq_assignments_package_id_annotator_id", "assignments", ["package_id", "annotator_id"], schema=_SCHEMA
    )
    op.create_index("ix_assignments_annotator_id_state", "assignments", ["annotator_id", "state"], schema=_SCHEMA)
    op.create_index(
        "ix_assignments_leased",
        "assignments",
        ["campaign_id", "expires_at"],
        schema=_SCHEMA,
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.drop_column("assignments", "annotator", schema=_SCHEMA)


def _answers() -> None:
    op.create_table(
        "answers",
        sa.Column("assignment_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("served_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("first_saved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("active_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reported_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["annotation.assignments.id"], name="fk_answers_assignment_id_assignments"
        ),
        sa.PrimaryKeyConstraint("assignment_id", "position", name="pk_answers"),
        schema=_SCHEMA,
    )
    op.create_table(
        "answer_revisions",
        sa.Column("assignment_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("assignment_id", "position", "version", name="pk_answer_revisions"),
        schema=_SCHEMA,
    )


def _annotations() -> None:
    _refer_to_annotators("annotations")
    op.create_index("ix_annotations_annotator_id", "annotations", ["annotator_id"], schema=_SCHEMA)
    op.drop_column("annotations", "annotator", schema=_SCHEMA)
    op.alter_column("annotations", "segment_id", new_column_name="item_id", schema=_SCHEMA)
    for before, after in (
        ("fk_annotations_segment_id_segments", "fk_annotations_item_id_items"),
        ("uq_annotations_assignment_id_segment_id", "uq_annotations_assignment_id_item_id"),
    ):
        op.execute(f"ALTER TABLE annotation.annotations RENAME CONSTRAINT {before} TO {after}")
    op.execute("ALTER INDEX annotation.ix_annotations_segment_id RENAME TO ix_annotations_item_id")
    op.add_column(
        "annotations",
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        schema=_SCHEMA,
    )
    op.execute(
        """
        UPDATE annotation.annotations SET answer = jsonb_build_object(
            'entity', jsonb_build_object('A', label_a, 'B', label_b),
            'fluency', fluency, 'sensibleness', sensibleness, 'specificity', specificity)
        """
    )
    op.alter_column("annotations", "answer", nullable=False, schema=_SCHEMA)
    # Until now the time of what was annotated here came from frontends.
    op.add_column("annotations", sa.Column("reported_ms", sa.BigInteger(), nullable=True), schema=_SCHEMA)
    op.execute("UPDATE annotation.annotations SET reported_ms = elapsed_ms WHERE assignment_id IS NOT NULL")
    for column in ("label_a", "label_b", "fluency", "sensibleness", "specificity"):
        op.drop_column("annotations", column, schema=_SCHEMA)
    # What was annotated in assignments that are not submitted are drafts as well.
    op.execute(
        """
        INSERT INTO annotation.answers
            (assignment_id, position, answer, step, version, first_saved_at, saved_at, reported_ms)
        SELECT assignment_id, items.position, answer, 2, 1, ended_at, ended_at, reported_ms
        FROM annotation.annotations
        JOIN annotation.items ON items.id = annotations.item_id
        JOIN annotation.assignments ON assignments.id = annotations.assignment_id
        WHERE assignments.state <> 'submitted'
        """
    )


def _counters() -> None:
    for table, name in (
        ("campaigns", "packages"),
        ("campaigns", "items"),
        ("campaigns", "annotations"),
        ("campaigns", "submitted"),
        ("packages", "slots_left"),
    ):
        op.add_column(table, sa.Column(name, sa.Integer(), server_default="0", nullable=False), schema=_SCHEMA)
    op.add_column(
        "campaigns",
        sa.Column("protocol_name", sa.String(length=100), server_default="spot_the_bot", nullable=False),
        schema=_SCHEMA,
    )
    op.add_column(
        "campaigns", sa.Column("protocol_version", sa.Integer(), server_default="1", nullable=False), schema=_SCHEMA
    )
    op.add_column("campaigns", sa.Column("packages_per_annotator", sa.Integer(), nullable=True), schema=_SCHEMA)
    op.add_column(
        "campaigns", sa.Column("lease_seconds", sa.Integer(), server_default="3600", nullable=False), schema=_SCHEMA
    )
    op.add_column(
        "campaigns",
        sa.Column("opens_when_built", sa.Boolean(), server_default="true", nullable=False),
        schema=_SCHEMA,
    )
    op.execute(
        """
        UPDATE annotation.campaigns AS campaign SET
            packages = (SELECT count(*) FROM annotation.packages WHERE campaign_id = campaign.id),
            items = (SELECT count(*) FROM annotation.items WHERE campaign_id = campaign.id),
            annotations = (SELECT count(*) FROM annotation.annotations WHERE campaign_id = campaign.id),
            submitted = (SELECT count(*) FROM annotation.assignments
                WHERE campaign_id = campaign.id AND assignments.state = 'submitted'),
            state = CASE WHEN state = 'complete' AND closed_at IS NOT NULL THEN 'closed' ELSE state END
        """
    )
    op.execute(
        """
        UPDATE annotation.packages AS package SET slots_left = greatest(0, campaign.annotations_per_segment - (
            SELECT count(*) FROM annotation.assignments
            WHERE package_id = package.id AND assignments.state <> 'expired'))
        FROM annotation.campaigns AS campaign
        WHERE campaign.id = package.campaign_id AND campaign.mode = 'live'
        """
    )
    op.create_check_constraint("slots_left_not_negative", "packages", "slots_left >= 0", schema=_SCHEMA)
    op.create_index(
        "ix_packages_claimable",
        "packages",
        ["campaign_id", "id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("slots_left > 0"),
    )


def _audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("action", sa.String(length=50), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=True),
        sa.Column("details", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_audit_log_campaign_id_campaigns"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
        schema=_SCHEMA,
    )
    op.create_index("ix_audit_log_campaign_id_id", "audit_log", ["campaign_id", "id"], schema=_SCHEMA)
    op.execute(
        """
        CREATE FUNCTION annotation.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
        END $$
        """
    )
    for table in ("audit_log", "answer_revisions"):
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON annotation.{table}"
            " FOR EACH ROW EXECUTE FUNCTION annotation.refuse_change()"
        )


def _refer_to_annotators(table: str) -> None:
    """Give each row of a table that names its annotator the annotator's id instead."""
    op.add_column(table, sa.Column("annotator_id", sa.Uuid(), nullable=True), schema=_SCHEMA)
    op.execute(
        f"""
        UPDATE annotation.{table} AS named SET annotator_id = annotators.id FROM annotation.annotators
        WHERE annotators.campaign_id = named.campaign_id AND annotators.external_id = named.annotator
        """  # noqa: S608 - a table of ours
    )
    op.alter_column(table, "annotator_id", nullable=False, schema=_SCHEMA)
    op.create_foreign_key(
        f"fk_{table}_annotator_id_annotators",
        table,
        "annotators",
        ["annotator_id"],
        ["id"],
        source_schema=_SCHEMA,
        referent_schema=_SCHEMA,
    )
