"""All tables of the schema `fed`, registered by importing this module, and their migrations."""

from pathlib import Path

from spotthebot.fed.dimension_sets import tables as dimension_sets_tables
from spotthebot.fed.likelihoods import tables as likelihoods_tables
from spotthebot.fed.metadata import Base
from spotthebot.fed.score_sets import tables as score_sets_tables
from spotthebot.kit.migrations.lineage import Lineage

LINEAGE = Lineage("fed", Base.metadata, Path(__file__).parent / "migrations")
