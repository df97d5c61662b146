"""Imports what most services need, in the process that all are forked from (see `forks`).

Whatever is imported here is there in every service; a test holds that most of them need it.
"""

import gc
from importlib import import_module

MODULES = (
    "httptools",
    "uvloop",
    "spotthebot.clients.conversations",
    "spotthebot.kit.events",
    "spotthebot.kit.exports",
    "spotthebot.kit.jobs",
    "spotthebot.kit.outbound.http",
    "spotthebot.kit.process",
    "spotthebot.kit.serving.configuration",
    "spotthebot.kit.web.api",
    "spotthebot.kit.web.bearer.part",
    "spotthebot.kit.processes.forks",
)

gc.disable()  # nothing of this is garbage
for _module in MODULES:
    import_module(_module)
gc.freeze()  # a collection would write to each object, and so copy its memory
gc.enable()
