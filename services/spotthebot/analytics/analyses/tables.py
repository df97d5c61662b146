"""The tables of analyses that run as jobs."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import DateTime, Index, LargeBinary, String, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.analytics.metadata import Base
from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.step_jobs.tables import step_job_tables
from spotthebot.kit.web.database.tables import idempotency_table

STEP_JOBS = step_job_tables(Base.metadata)
"""The tables of analyses that run as jobs. The subject of a job is a campaign; its inputs are the campaign's counts."""
