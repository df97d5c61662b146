"""All tables of the schema `bots`, registered by importing this module, and their migrations."""

from pathlib import Path

from spotthebot.bots.bots import tables as bots_tables
from spotthebot.bots.hosted_models import tables as hosted_models_tables
from spotthebot.bots.metadata import Base
from spotthebot.bots.probes import tables as probes_tables
from spotthebot.kit.migrations.lineage import Lineage

LINEAGE = Lineage("bots", Base.metadata, Path(__file__).parent / "migrations")
