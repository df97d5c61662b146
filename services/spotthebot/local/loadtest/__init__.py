"""`./stb loadtest`: a soak of a whole suite by simulated people and bots, and what it did to times and to memory."""

from spotthebot.local.loadtest.plan import LoadPlan
from spotthebot.local.loadtest.result import LoadResult
from spotthebot.local.loadtest.run import run_load

__all__ = ["LoadPlan", "LoadResult", "run_load"]
