"""`python -m spotthebot.conversations serve | work | migrate | openapi`."""

from spotthebot.conversations.app import SERVICE
from spotthebot.kit.process import run

run(SERVICE)
