"""`python -m spotthebot.analytics serve | openapi`."""

from spotthebot.analytics.app import SERVICE
from spotthebot.kit.process import run

run(SERVICE)
