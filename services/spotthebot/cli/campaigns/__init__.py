"""`./stb campaign`: campaigns that a file declares."""

from spotthebot.cli.campaigns.declaration import Declaration
from spotthebot.cli.campaigns.declaration_file import CampaignDeclared, read_declaration
from spotthebot.cli.campaigns.run import DeclaredCampaign, Estimate, declare, estimate

__all__ = [
    "CampaignDeclared",
    "Declaration",
    "DeclaredCampaign",
    "Estimate",
    "declare",
    "estimate",
    "read_declaration",
]
