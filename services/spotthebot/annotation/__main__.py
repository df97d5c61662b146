"""`python -m spotthebot.annotation serve | work | migrate | openapi`."""

from spotthebot.kit.service.process import run

run("annotation")
