"""Pages for administrators: campaigns, annotators, collections, keys, the audit log and how the services are."""

from spotthebot.web.pages.admin import annotators, campaigns, collections, system

ROUTERS = (system.router, annotators.router, campaigns.router, collections.router)
