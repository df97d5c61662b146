"""`./stb loadtest`: a soak of a whole suite by simulated people and bots, and what it did to times and to memory."""

from spotthebot.suite.loadtest.plan import LoadPlan
from spotthebot.suite.loadtest.result import LoadResult
from spotthebot.suite.loadtest.run import run_load

__all__ = ["LoadPlan", "LoadResult", "run_load"]
