"""The person who annotates is the annotator, not a worker; a campaign's state is stored."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0002"
down_revision = "annotation_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("assignments", "annotations"):
        op.alter_column(table, "worker", new_column_name="annotator", schema="annotation")
    op.execute(
        "ALTER TABLE annotation.assignments"
        " RENAME CONSTRAINT uq_assignments_package_id_worker TO uq_assignments_package_id_annotator"
    )
    op.execute(
        "ALTER INDEX annotation.ix_assignments_campaign_id_worker RENAME TO ix_assignments_campaign_id_annotator"
    )
    op.add_column("campaigns", sa.Column("state", sa.String(length=20), nullable=True), schema="annotation")
    op.execute(
        """
        UPDATE annotation.campaigns AS campaign SET state = CASE
            WHEN failure IS NOT NULL THEN 'failed'
            WHEN closed_at IS NOT NULL THEN 'complete'
            WHEN built_at IS NULL THEN 'building'
            WHEN mode = 'live' AND annotations_per_segment
                    * (SELECT count(*) FROM annotation.packages WHERE campaign_id = campaign.id)
                <= (SELECT count(*) FROM annotation.assignments
                    WHERE campaign_id = campaign.id AND assignments.state = 'complete') THEN 'complete'
            ELSE 'open'
        END
        """
    )
    op.alter_column("campaigns", "state", nullable=False, schema="annotation")
