"""`python -m spotthebot.bots serve | migrate | openapi`."""

from spotthebot.kit.service.process import run

run("bots")
