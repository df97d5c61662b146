"""The audit log outlasts drafts that are deleted: its entries name campaigns that may be gone.

The release before works without the foreign key: it only adds entries of campaigns that it found.
"""

from alembic import op

revision = "annotation_0034"
down_revision = "annotation_0033"
branch_labels = None
depends_on = None

OLDEST_HEAD = "annotation_0033"


def upgrade() -> None:
    op.drop_constraint("fk_audit_log_campaign_id_campaigns", "audit_log", schema="annotation", type_="foreignkey")
