"""The pages of annotators: entry, consent, training, packages, completion."""

from typing import Final

from spotthebot.web.pages.annotate import campaign, entry, packages, training

ROUTERS: Final = (entry.router, campaign.router, packages.router, training.router)
