"""All tables of the schema `analytics`, registered by importing this module, and their migrations."""

from pathlib import Path

from spotthebot.analytics.analyses import tables as analyses_tables
from spotthebot.analytics.kept_results import tables as kept_results_tables
from spotthebot.analytics.metadata import Base
from spotthebot.analytics.standings import tables as standings_tables
from spotthebot.analytics.verdicts import tables as verdicts_tables
from spotthebot.kit.migrations.lineage import Lineage

LINEAGE = Lineage("analytics", Base.metadata, Path(__file__).parent / "migrations")
