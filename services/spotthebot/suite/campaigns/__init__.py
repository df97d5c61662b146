"""`./stb campaign` and `./stb annotate`: campaigns that a file declares, and simulated annotators who work on them."""

from spotthebot.suite.campaigns.declaration import Declaration
from spotthebot.suite.campaigns.declaration_file import CampaignDeclared, read_declaration
from spotthebot.suite.campaigns.export import (
    ExportedCampaign,
    conversations_file,
    export,
    read_exported_campaign,
    rows_file,
)
from spotthebot.suite.campaigns.run import DeclaredCampaign, Estimate, build, declare, estimate
from spotthebot.suite.campaigns.simulated import (
    RANKED_PROTOCOL,
    SIMULATED_PROTOCOLS,
    SimulatedWork,
    annotate,
    simulated_annotators,
)

__all__ = [
    "RANKED_PROTOCOL",
    "SIMULATED_PROTOCOLS",
    "CampaignDeclared",
    "Declaration",
    "DeclaredCampaign",
    "Estimate",
    "ExportedCampaign",
    "SimulatedWork",
    "annotate",
    "build",
    "conversations_file",
    "declare",
    "estimate",
    "export",
    "read_declaration",
    "read_exported_campaign",
    "rows_file",
    "simulated_annotators",
]
