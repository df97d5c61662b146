"""What most services need, which the program that forks them imports (`kit.processes.forks`).

Whatever is imported here is there in every service; a test holds that most of them need it.
"""

NEEDS = (
    "httptools",
    "uvloop",
    "spotthebot.clients.conversations",
    "spotthebot.kit.events",
    "spotthebot.kit.exports",
    "spotthebot.kit.jobs",
    "spotthebot.kit.outbound.http",
    "spotthebot.kit.service.process",
    "spotthebot.kit.serving.configuration",
    "spotthebot.kit.web.api",
    "spotthebot.kit.web.bearer.part",
)
