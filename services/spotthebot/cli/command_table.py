"""The table of all commands.

It is plain data, so that help imports no command, and a command imports only its own module.
"""

from spotthebot.cli.command_groups import (
    ANALYSES,
    BOTS,
    CAMPAIGNS,
    COLLECTIONS,
    CORPORA,
    EVALUATIONS,
    FED,
    IMPORTS,
    JUDGES,
    KEYS,
    PARTNERS,
    PLANS,
    PROTOCOLS,
    STUDIES,
)
from spotthebot.cli.lazy import Command, CommandGroup, CommandTable

_HERE = "spotthebot.cli.commands"

COMMANDS: CommandTable = {
    "demo": Command(
        f"{_HERE}.demonstration",
        "demo",
        "Run a demonstration: bots converse, simulated annotators label, and the labels rank the bots.",
    ),
    "up": Command(f"{_HERE}.services", "up", "Run all services until Ctrl-C."),
    "status": Command(f"{_HERE}.status", "status", "Show what runs on the data folder."),
    "down": Command(f"{_HERE}.status", "down", "Stop the suite that runs on the data folder."),
    "logs": Command(f"{_HERE}.logs", "logs", "Show the logs of services and workers."),
    "env": Command(f"{_HERE}.env", "env", "Print the environment of a service of the running suite."),
    "plan": CommandGroup("Plan the size of a study: conversations, dialogues, annotators, power.", PLANS),
    "collect": Command(f"{_HERE}.collections", "collect", "Run a collection of conversations that a file declares."),
    "campaign": Command(f"{_HERE}.campaigns", "campaign", "Make a campaign of annotation that a file declares."),
    "study": Command(f"{_HERE}.study", "study", "Make a study that a file declares: tasks over the same dialogues."),
    "annotate": Command(
        f"{_HERE}.annotate",
        "annotate",
        "Let simulated annotators work on a campaign or a study until nothing is left for them.",
    ),
    "import": CommandGroup("Import data: published, exported, or of other tools; again changes nothing.", IMPORTS),
    "rank": Command(f"{_HERE}.rank", "rank", "Rank the bots of a campaign or of a study."),
    "report": Command(
        f"{_HERE}.report",
        "report",
        "Write the report of a campaign or a study: one HTML page, and its tables as CSV, JSON and LaTeX.",
    ),
    "analyse": CommandGroup("Analyse files where they lie, without any service.", ANALYSES),
    "keys": CommandGroup("API keys: made here, shown once, revocable at once.", KEYS),
    "bots": CommandGroup("Bots: check, register and list them, train models to register.", BOTS),
    "campaigns": CommandGroup(
        "Campaigns of annotation: list, open, pause, close, delete them; release results.", CAMPAIGNS
    ),
    "studies": CommandGroup("Studies: list, show and delete them, assess their measures.", STUDIES),
    "collections": CommandGroup("Collections of conversations: list them, pause, resume and cancel them.", COLLECTIONS),
    "corpora": CommandGroup("Corpora: human dialogues to learn from, to open with, to mix in.", CORPORA),
    "judge": CommandGroup("Judges: programs that label, marked as programs everywhere.", JUDGES),
    "evaluate": CommandGroup("Evaluations without people: bots converse, a language model rates.", EVALUATIONS),
    "gate": Command(f"{_HERE}.gate", "gate", "Fail if a new version of a bot is provably worse than an old one."),
    "partners": CommandGroup("Partner sets of bipartite-play: make, train, export, import and measure them.", PARTNERS),
    "fed": CommandGroup("FED: a language model rates dialogues; train one for it.", FED),
    "protocols": CommandGroup("Protocols of annotation: convert the tasks of others.", PROTOCOLS),
    "install": Command(f"{_HERE}.install", "install", "Install an optional part."),
    "provision": Command(
        f"{_HERE}.provision",
        "provision",
        "Prepare the database of services that run in containers; a second run changes nothing.",
    ),
    "mcp": Command(
        f"{_HERE}.mcp",
        "mcp",
        "Serve the services' operations as tools of the Model Context Protocol, over standard input and output.",
    ),
    "doctor": Command(
        f"{_HERE}.doctor",
        "doctor",
        "Show which optional parts are installed, the purpose of each, and the suite's ports, size and free disk.",
    ),
    "loadtest": Command(
        f"{_HERE}.loadtest", "loadtest", "Let simulated people and bots work on a suite made for this, and measure it."
    ),
    "backup": Command(f"{_HERE}.backups", "backup", "Write all data of the suite to one file, whether it runs or not."),
    "restore": Command(
        f"{_HERE}.backups",
        "restore",
        "Restore a suite from a backup; an existing database is replaced only with --replace.",
    ),
    "purge": Command(f"{_HERE}.purge", "purge", "Remove the data folder with all its contents, and PostgreSQL's home."),
    "docs": Command("tools.documents", "docs", "Renew what a clone's documents take from the code.", of_clone=True),
    "pins": Command(
        "tools.pins", "pins", "Renew requirements.txt, the hashes of all that is installed.", of_clone=True
    ),
    "release": Command("tools.release", "release", "Make a release of the present commit.", of_clone=True),
    "verify": Command("tools.provenance", "verify", "Check a release's files; needs no network.", of_clone=True),
    "test": Command("tools.tests", "run_tests", "Run the whole test suite.", passes_arguments_on=True, of_clone=True),
}
