"""The table of all commands: plain data, so that help and every command import what they need and no more."""

from spotthebot.cli.lazy import Command, CommandGroup, CommandTable

_HERE = "spotthebot.cli.commands"

KEYS = {
    "create": Command(f"{_HERE}.keys", "create", "Make an API key."),
    "list": Command(f"{_HERE}.keys", "list_keys", "List API keys, without their texts."),
    "show": Command(f"{_HERE}.keys", "show", "Show an API key, without its text."),
    "revoke": Command(f"{_HERE}.keys", "revoke", "Revoke an API key at once."),
}
BOTS = {
    "list": Command(f"{_HERE}.bots", "list_bots", "List bots; a team's key lists its own."),
    "show": Command(f"{_HERE}.bots", "show", "Show a bot, how it is asked, and what its last probe found."),
    "register": Command(
        f"{_HERE}.bot_registration",
        "register",
        "Register a bot, which is probed at once; exit code 1 where it can't take part yet.",
    ),
    "versions": Command(
        f"{_HERE}.bots", "versions", "List the versions of a bot: what decided its replies, and since when."
    ),
    "conversations": Command(
        f"{_HERE}.bots", "conversations", "List the conversations of a bot, oldest first; --json has what was said."
    ),
    "remove": Command(
        f"{_HERE}.bots", "remove", "Retire a bot: it is asked nothing more, for good; its conversations stay."
    ),
    "check": Command(f"{_HERE}.bot_check", "check", "Run the conformance kit on a bot, as registration does."),
    "train": Command(f"{_HERE}.training", "train_model", "Train a model on a corpus."),
}
CORPORA = {
    "add": Command(f"{_HERE}.corpora", "add", "Upload a file to a corpus."),
    "list": Command(f"{_HERE}.corpus_display", "list_corpora", "List corpora and how much they hold."),
    "show": Command(
        f"{_HERE}.corpus_display", "show", "Show a corpus: where it comes from, and the statistics of its splits."
    ),
    "remove": Command(
        f"{_HERE}.corpus_display", "remove", "Delete a corpus that no collection and no bot uses, for good."
    ),
}
CAMPAIGNS = {
    "list": Command(f"{_HERE}.campaign_control", "list_campaigns", "List campaigns and how far they are."),
    "show": Command(
        f"{_HERE}.campaign_control",
        "show",
        "Show a campaign: what it asks, how far it is, and what its conversations come from.",
    ),
    "open": Command(
        f"{_HERE}.campaign_control",
        "open_campaign",
        "Let annotators claim packages of a draft or of a paused campaign.",
    ),
    "pause": Command(
        f"{_HERE}.campaign_control",
        "pause",
        "Let nothing be claimed until the campaign is opened again; packages that annotators hold can be submitted.",
    ),
    "close": Command(f"{_HERE}.campaign_control", "close", "End a campaign with the annotations that it has."),
    "delete": Command(f"{_HERE}.campaign_control", "delete", "Delete a draft that nobody entered, with its packages."),
    "release": Command(
        f"{_HERE}.campaign_control",
        "release",
        "Let teams, or everybody, see the standings of bots in a campaign that has ended.",
    ),
    "withdraw": Command(
        f"{_HERE}.campaign_control", "withdraw", "Let neither teams nor the public see a campaign's results any more."
    ),
}
COLLECTIONS = {
    "list": Command(f"{_HERE}.collection_control", "list_collections", "List collections and how far they are."),
    "show": Command(
        f"{_HERE}.collection_control",
        "show",
        "Show a collection: how far it is, its pairs, and why conversations failed or wait.",
    ),
    "pause": Command(f"{_HERE}.collection_control", "pause", "Ask bots nothing more until the collection is resumed."),
    "resume": Command(f"{_HERE}.collection_control", "resume", "Go on with a paused collection."),
    "cancel": Command(
        f"{_HERE}.collection_control",
        "cancel",
        "End a collection for good: conversations that run are cancelled, what was said stays.",
    ),
}
EVALUATIONS = {
    "bipartite": Command(f"{_HERE}.evaluations", "bipartite", "Rank bots by FED after bipartite-play."),
    "self-play": Command(f"{_HERE}.evaluations", "self_play", "Rank bots by FED after self-play."),
    "all-play-all": Command(f"{_HERE}.evaluations", "all_play_all", "Rank bots by FED after all-play-all."),
}
IMPORTS = {
    "spot-the-bot": Command(f"{_HERE}.studies", "import_published", "Import the published Spot The Bot data."),
    "export": Command(
        f"{_HERE}.studies", "import_exported", "Import a collection or a campaign that a suite exported."
    ),
    "conversations": Command(
        f"{_HERE}.table_imports",
        "import_table_of_conversations",
        "Import conversations of a table: a row for each turn, or an object with all turns.",
    ),
    "labels": Command(
        f"{_HERE}.table_imports",
        "import_table_of_labels",
        "Import what people took the sides of conversations for, as a campaign that can be ranked.",
    ),
}
ANALYSES = {
    "spot-the-bot": Command(
        f"{_HERE}.analyse",
        "analyse_published",
        "Analyse the published Spot The Bot data where it lies, without any service.",
    ),
    "table": Command(
        f"{_HERE}.table_analysis",
        "analyse_table",
        "Rank the bots of a table of votes between two bots, or of ratings, without any service.",
    ),
}
PROTOCOLS = {
    "abc-eval": Command(f"{_HERE}.protocols", "convert_abc_eval", "Turn ABC-Eval's task schemas into protocols."),
    "abc-eval-training": Command(
        f"{_HERE}.protocols", "convert_abc_eval_training", "Turn ABC-Eval's training dialogues into trainings."
    ),
}
FED = {
    "score": Command(f"{_HERE}.fed", "score", "Score dialogues of a file by FED, without any service"),
    "train-scorer": Command(f"{_HERE}.training", "train_scorer", "Train a language model for FED on a corpus"),
}
COMMANDS: CommandTable = {
    "demo": Command(
        f"{_HERE}.studies", "demo", "See it all: bots converse, simulated annotators label, a ranking comes out."
    ),
    "up": Command(f"{_HERE}.services", "up", "Run all services until Ctrl-C."),
    "status": Command(f"{_HERE}.status", "status", "Show what runs on the data folder."),
    "down": Command(f"{_HERE}.status", "down", "Stop the suite that runs on the data folder."),
    "logs": Command(f"{_HERE}.logs", "logs", "Show the logs of services and workers."),
    "env": Command(f"{_HERE}.env", "env", "Print the environment of a service of the suite that runs."),
    "collect": Command(f"{_HERE}.collections", "collect", "Run a collection of conversations that a file declares."),
    "campaign": Command(f"{_HERE}.campaigns", "campaign", "Make a campaign of annotation that a file declares."),
    "annotate": Command(
        f"{_HERE}.campaigns", "annotate", "Let simulated annotators work on a campaign until nothing is left for them."
    ),
    "import": CommandGroup("Import studies: published, exported, or of other tools; again changes nothing.", IMPORTS),
    "rank": Command(f"{_HERE}.rank", "rank", "Rank the bots of a campaign."),
    "report": Command(
        f"{_HERE}.report", "report", "Write a campaign's report: one HTML page, and its tables as CSV, JSON and LaTeX."
    ),
    "analyse": CommandGroup("Analyse studies where they lie, without any service.", ANALYSES),
    "keys": CommandGroup("API keys: made here, shown once, revocable at once.", KEYS),
    "bots": CommandGroup("Bots: check, register and list them, train models to register.", BOTS),
    "campaigns": CommandGroup(
        "Campaigns of annotation: list, open, pause, close, delete them; release results.", CAMPAIGNS
    ),
    "collections": CommandGroup("Collections of conversations: list them, pause, resume and cancel them.", COLLECTIONS),
    "corpora": CommandGroup("Corpora: human dialogues to learn from, to open with, to mix in.", CORPORA),
    "evaluate": CommandGroup("Evaluations without people: bots converse, a language model rates.", EVALUATIONS),
    "fed": CommandGroup("FED: a language model rates dialogues; train one for it.", FED),
    "protocols": CommandGroup("Protocols of annotation: convert the tasks of others.", PROTOCOLS),
    "install": Command(f"{_HERE}.install", "install", "Install an optional part."),
    "provision": Command(
        f"{_HERE}.provision",
        "provision",
        "Prepare the database of services that run in containers; again changes nothing.",
    ),
    "doctor": Command(f"{_HERE}.doctor", "doctor", "Show which optional parts are there, and what each is for."),
    "loadtest": Command(
        f"{_HERE}.loadtest", "loadtest", "Let simulated people and bots work on a suite of its own, and measure it."
    ),
    "backup": Command(
        f"{_HERE}.backups", "backup", "Write all that the suite keeps to one file, while it runs or while it does not."
    ),
    "restore": Command(
        f"{_HERE}.backups",
        "restore",
        "Make a suite of a backup; a database that is there is only replaced on request.",
    ),
    "purge": Command(
        f"{_HERE}.purge", "purge", "Remove the data folder with all that is in it, and PostgreSQL's home."
    ),
    "docs": Command("tools.documents", "docs", "Renew what a clone's documents take from the code.", of_clone=True),
    "pins": Command(
        "tools.pins", "pins", "Renew requirements.txt, the hashes of all that is installed.", of_clone=True
    ),
    "test": Command("tools.tests", "run_tests", "Run the whole test suite.", passes_arguments_on=True, of_clone=True),
}
