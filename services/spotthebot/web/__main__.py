"""`python -m spotthebot.web serve | migrate | openapi`."""

from spotthebot.kit.process import run

run("web")
