"""`python -m spotthebot.web serve | migrate | openapi`."""

from spotthebot.kit.service.process import run

run("web")
