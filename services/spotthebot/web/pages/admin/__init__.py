"""Pages for administrators: campaigns, annotators, collections, keys, the audit log and how the services are."""

from spotthebot.web.pages.admin import (
    annotators,
    campaign_form,
    campaigns,
    collections,
    decisions,
    files,
    links,
    system,
    trainings,
)

ROUTERS = (
    system.router,
    annotators.router,
    decisions.router,
    files.router,
    campaign_form.router,
    campaigns.router,
    links.router,
    trainings.router,
    collections.router,
)
