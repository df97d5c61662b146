"""`python -m spotthebot.fed serve | work | migrate | openapi`."""

from spotthebot.kit.process import run

run("fed")
