"""All tables of the schema `annotation`, registered by importing this module, and their migrations."""

from pathlib import Path

from spotthebot.annotation.annotators import tables as annotators_tables
from spotthebot.annotation.assignments import tables as assignments_tables
from spotthebot.annotation.attempts import tables as attempts_tables
from spotthebot.annotation.audit import tables as audit_tables
from spotthebot.annotation.campaigns import tables as campaigns_tables
from spotthebot.annotation.conversations import tables as conversations_tables
from spotthebot.annotation.entry_links import tables as entry_links_tables
from spotthebot.annotation.judges import tables as judges_tables
from spotthebot.annotation.leases import tables as leases_tables
from spotthebot.annotation.metadata import Base
from spotthebot.annotation.packages import tables as packages_tables
from spotthebot.annotation.payments import tables as payments_tables
from spotthebot.annotation.protocols import tables as protocols_tables
from spotthebot.annotation.studies import tables as studies_tables
from spotthebot.annotation.trainings import tables as trainings_tables
from spotthebot.kit.migrations.lineage import Lineage

LINEAGE = Lineage("annotation", Base.metadata, Path(__file__).parent / "migrations")
