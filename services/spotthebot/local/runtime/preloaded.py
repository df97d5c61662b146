"""Modules that most services need. The program that forks services imports them (`kit.processes.forks`).

Every import here is loaded in every service; a test checks that most services need it.
"""

NEEDS = (
    "httptools",
    "uvloop",
    "spotthebot.clients.conversations.client",
    "spotthebot.kit.events",
    "spotthebot.kit.exports",
    "spotthebot.kit.jobs.queue",
    "spotthebot.kit.outbound.http",
    "spotthebot.kit.service.process",
    "spotthebot.kit.serving.configuration",
    "spotthebot.kit.web.api",
    "spotthebot.kit.web.bearer.part",
)
