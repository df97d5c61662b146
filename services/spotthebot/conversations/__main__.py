"""`python -m spotthebot.conversations serve | work | migrate | openapi`."""

from spotthebot.kit.service.process import run

run("conversations")
