"""`python -m spotthebot.fed serve | work | migrate | openapi`."""

from spotthebot.kit.service.process import run

run("fed")
