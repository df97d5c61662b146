"""`python -m spotthebot.analytics serve | work | migrate | openapi`."""

from spotthebot.kit.service.process import run

run("analytics")
