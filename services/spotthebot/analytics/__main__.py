"""`python -m spotthebot.analytics serve | work | migrate | openapi`."""

from spotthebot.kit.process import run

run("analytics")
