"""`python -m spotthebot.bots serve | migrate | openapi`."""

from spotthebot.bots.app import SERVICE
from spotthebot.kit.process import run

run(SERVICE)
