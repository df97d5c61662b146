"""`python -m spotthebot.annotation serve | work | migrate | openapi`."""

from spotthebot.kit.process import run

run("annotation")
