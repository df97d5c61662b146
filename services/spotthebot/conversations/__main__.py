"""`python -m spotthebot.conversations serve | work | migrate | openapi`."""

from spotthebot.kit.process import run

run("conversations")
