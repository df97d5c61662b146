"""The pages of annotators: entry, consent, training, packages, completion."""

from typing import Final

from spotthebot.web.pages.annotate import campaign, entry, leaderboard, packages, training

ROUTERS: Final = (entry.router, campaign.router, packages.router, training.router, leaderboard.router)
