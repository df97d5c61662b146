"""Annotators can be erased: values of the audit log may become the word `erased`, and nothing else may change there."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0019"
down_revision = "annotation_0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("annotators", sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True), schema="annotation")
    op.execute(
        """
        CREATE FUNCTION annotation.refuse_change_but_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE'
                AND to_jsonb(NEW) - 'details' = to_jsonb(OLD) - 'details'
                AND ARRAY(SELECT jsonb_object_keys(NEW.details)) = ARRAY(SELECT jsonb_object_keys(OLD.details))
                AND NOT EXISTS (
                    SELECT FROM jsonb_each(NEW.details) AS after
                    WHERE after.value <> OLD.details -> after.key AND after.value <> '"erased"'::jsonb
                )
            THEN
                RETURN NEW;
            END IF;
            RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
        END $$
        """
    )
    op.execute(
        "CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON annotation.audit_log"
        " FOR EACH ROW EXECUTE FUNCTION annotation.refuse_change_but_erasure()"
    )
