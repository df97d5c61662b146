"""The audit log outlasts drafts that are deleted: its entries name campaigns that may be gone."""

from alembic import op

revision = "annotation_0034"
down_revision = "annotation_0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_constraint("fk_audit_log_campaign_id_campaigns", "audit_log", schema="annotation", type_="foreignkey")
