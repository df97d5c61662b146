"""`python -m spotthebot.bots serve | migrate | openapi`."""

from spotthebot.kit.process import run

run("bots")
