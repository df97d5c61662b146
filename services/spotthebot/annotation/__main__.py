"""`python -m spotthebot.annotation serve | work | migrate | openapi`."""

from spotthebot.annotation.app import SERVICE
from spotthebot.kit.process import run

run(SERVICE)
