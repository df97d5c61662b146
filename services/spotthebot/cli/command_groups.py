"""The commands of each group, such as `./stb bots`: plain data, as the table of all commands is."""

from spotthebot.cli.lazy import Command

_HERE = "spotthebot.cli.commands"

KEYS = {
    "create": Command(f"{_HERE}.keys", "create", "Make an API key."),
    "list": Command(f"{_HERE}.keys", "list_keys", "List API keys, without their texts."),
    "show": Command(f"{_HERE}.keys", "show", "Show an API key, without its text."),
    "revoke": Command(f"{_HERE}.keys", "revoke", "Revoke an API key at once."),
}
BOTS = {
    "list": Command(f"{_HERE}.bots", "list_bots", "List bots; with a team's key, only the team's bots."),
    "show": Command(f"{_HERE}.bots", "show", "Show a bot, its protocol and the findings of its last probe."),
    "register": Command(
        f"{_HERE}.bot_registration",
        "register",
        "Register a bot and probe it; exit code 1 if it can't take part yet.",
    ),
    "versions": Command(
        f"{_HERE}.bots", "versions", "List the versions of a bot, with the settings and the start of each."
    ),
    "conversations": Command(
        f"{_HERE}.bots", "conversations", "List the conversations of a bot, oldest first; --json includes their turns."
    ),
    "remove": Command(
        f"{_HERE}.bots", "remove", "Retire a bot for good: it gets no more requests; its conversations stay."
    ),
    "probe": Command(f"{_HERE}.bots", "probe", "Probe a bot now; exit code 1 if it can't take part."),
    "check": Command(f"{_HERE}.bot_check", "check", "Run the conformance kit on a bot, as registration does."),
    "train": Command(f"{_HERE}.training", "train_model", "Train a model on a corpus."),
}
CORPORA = {
    "add": Command(f"{_HERE}.corpora", "add", "Upload a file to a corpus."),
    "list": Command(f"{_HERE}.corpus_display", "list_corpora", "List corpora with their sizes."),
    "show": Command(f"{_HERE}.corpus_display", "show", "Show a corpus: its origin, and the statistics of its splits."),
    "remove": Command(
        f"{_HERE}.corpus_display", "remove", "Delete a corpus for good; no collection and no bot may use it."
    ),
}
CAMPAIGNS = {
    "list": Command(f"{_HERE}.campaign_control", "list_campaigns", "List campaigns with their progress."),
    "show": Command(
        f"{_HERE}.campaign_control",
        "show",
        "Show a campaign: its protocol, its progress and its collections.",
    ),
    "values": Command(
        f"{_HERE}.campaign_control",
        "values",
        "Write all that annotators said of bots as a table of ratings, which `stb analyse table` reads.",
    ),
    "agreement": Command(
        f"{_HERE}.agreement",
        "of_campaign",
        "Show how much the annotators of each workforce of a campaign agree, in all labels and by each measure.",
    ),
    "decisions": Command(f"{_HERE}.decisions", "decisions", "Show when the annotators of a game spot each speaker."),
    "pooled": Command(
        f"{_HERE}.pooled", "pooled", "Show one result of several campaigns of one protocol, and its mean over them."
    ),
    "verdicts": Command(
        f"{_HERE}.campaign_control",
        "verdicts",
        "Show which pairs of bots are decided, and about how much more work the others need.",
    ),
    "judges": Command(
        f"{_HERE}.judge_worth",
        "of_campaign",
        "Show what each judge of a campaign is worth: agreement, calibration, and the labels of people that it saves.",
    ),
    "training": Command(
        f"{_HERE}.campaign_control",
        "training",
        "Show how many people of each workforce passed a campaign's training.",
    ),
    "payments": Command(
        f"{_HERE}.payment_files", "of_campaign", "Write the file by which a campaign's annotators are paid."
    ),
    "open": Command(
        f"{_HERE}.campaign_control",
        "open_campaign",
        "Let annotators claim packages of a draft or of a paused campaign.",
    ),
    "pause": Command(
        f"{_HERE}.campaign_control",
        "pause",
        "Pause a campaign: nobody can claim packages until it is opened again; claimed packages can be submitted.",
    ),
    "close": Command(f"{_HERE}.campaign_control", "close", "End a campaign with the annotations that it has."),
    "delete": Command(f"{_HERE}.campaign_control", "delete", "Delete a draft that nobody entered, with its packages."),
    "release": Command(
        f"{_HERE}.campaign_control",
        "release",
        "Let teams, or everybody, see the standings of bots in a campaign that has ended.",
    ),
    "withdraw": Command(
        f"{_HERE}.campaign_control",
        "withdraw",
        "Withdraw a campaign's results: teams and the public can't see them any more.",
    ),
}
COLLECTIONS = {
    "list": Command(f"{_HERE}.collection_control", "list_collections", "List collections with their progress."),
    "show": Command(
        f"{_HERE}.collection_control",
        "show",
        "Show a collection: its progress, its pairs, and the reasons of failed and waiting conversations.",
    ),
    "times": Command(
        f"{_HERE}.collection_control", "times", "Show how many seconds people chat with a bot, for one conversation."
    ),
    "payments": Command(
        f"{_HERE}.payment_files", "of_chats", "Write the file by which the people who chat in a collection are paid."
    ),
    "export": Command(f"{_HERE}.collection_control", "export", "Write a collection's conversations to a file."),
    "push": Command(
        f"{_HERE}.collection_control", "push", "Push a collection's conversations to a Hugging Face hub, as a data set."
    ),
    "pause": Command(
        f"{_HERE}.collection_control", "pause", "Pause a collection: bots get no requests until it is resumed."
    ),
    "resume": Command(f"{_HERE}.collection_control", "resume", "Resume a paused collection."),
    "rename": Command(
        f"{_HERE}.collection_control",
        "rename",
        "Rename a collection; its id stays, and so does all that was made from it.",
    ),
    "cancel": Command(
        f"{_HERE}.collection_control",
        "cancel",
        "End a collection for good: running conversations are cancelled; their turns are kept.",
    ),
}
PARTNERS = {
    "create": Command(f"{_HERE}.partners", "create", "Store bots as a partner set, or a new version of it."),
    "train": Command(
        f"{_HERE}.partners",
        "train",
        "Train a pool of tiny models in variants, store it with built-in bots as a partner set, and measure it.",
    ),
    "export": Command(f"{_HERE}.partners", "export", "Write a partner set to a file, without secrets."),
    "import": Command(f"{_HERE}.partners", "import_file", "Store the partner set of a file, and register its bots."),
    "diversity": Command(f"{_HERE}.partners", "diversity", "Show how much the replies of partners overlap."),
}
STUDIES = {
    "list": Command(f"{_HERE}.study_control", "list_studies", "List studies with their tasks."),
    "show": Command(
        f"{_HERE}.study_control", "show", "Show a study: its tasks with their progress, its chats and its outcome."
    ),
    "values": Command(
        f"{_HERE}.study_control",
        "values",
        "Write all that annotators and chatting people said as a table of ratings, which `stb analyse table` reads.",
    ),
    "agreement": Command(
        f"{_HERE}.agreement",
        "of_study",
        "Show how much the annotators of each workforce of each task of a study agree, in all labels and by each.",
    ),
    "assess": Command(
        f"{_HERE}.study_control", "assess", "Say which measures of a study deserve trust, by the study's outcome."
    ),
    "delete": Command(f"{_HERE}.study_control", "delete", "Delete a study; its campaigns stay."),
}
JUDGES = {
    "add": Command(f"{_HERE}.judges", "add", "Add a version of a judge that a file declares."),
    "list": Command(f"{_HERE}.judges", "list_judges", "List versions of judges."),
    "show": Command(f"{_HERE}.judges", "show", "Show a version of a judge, by default the newest."),
    "run": Command(f"{_HERE}.judges", "run", "Let a judge label the packages of a campaign that it has not labelled."),
    "probe": Command(
        f"{_HERE}.judge_probes", "probe", "Ask a judge about items as they are and with one planted change."
    ),
    "train": Command(f"{_HERE}.judge_models", "train", "Train a judge on the labels of a campaign."),
}
EVALUATIONS = {
    "bipartite": Command(f"{_HERE}.evaluations", "bipartite", "Rank bots by FED after bipartite-play."),
    "self-play": Command(f"{_HERE}.evaluations", "self_play", "Rank bots by FED after self-play."),
    "all-play-all": Command(f"{_HERE}.evaluations", "all_play_all", "Rank bots by FED after all-play-all."),
}
IMPORTS = {
    "spot-the-bot": Command(f"{_HERE}.imports", "import_published", "Import the published Spot The Bot data."),
    "export": Command(
        f"{_HERE}.imports", "import_exported", "Import a collection or a campaign that a suite exported."
    ),
    "conversations": Command(
        f"{_HERE}.table_imports",
        "import_table_of_conversations",
        "Import conversations from a table with a row for each turn, or with all turns in one object.",
    ),
    "labels": Command(
        f"{_HERE}.table_imports",
        "import_table_of_labels",
        "Import people's labels of the sides of conversations, as a campaign that can be ranked.",
    ),
}
ANALYSES = {
    "spot-the-bot": Command(
        f"{_HERE}.analyse",
        "analyse_published",
        "Analyse the published Spot The Bot data from its files, without any service.",
    ),
    "table": Command(
        f"{_HERE}.table_analysis",
        "analyse_table",
        "Rank the bots of a table of votes or of ratings, or assess its measures, without any service.",
    ),
    "judged": Command(
        f"{_HERE}.judged_analysis",
        "analyse_judged_file",
        "Correct fooling rates by an automatic judge, and show how many of people's labels it saves.",
    ),
}
PLANS = {
    "cost": Command(
        f"{_HERE}.plan",
        "plan_cost",
        "Compare the hours of two designs: people annotate conversations of bots, or people chat with each bot.",
    ),
    "win-rates": Command(
        f"{_HERE}.plan",
        "plan_win_rates",
        "Plan the conversations and annotators of a study of preferences, such as Spot The Bot.",
    ),
    "ratings": Command(
        f"{_HERE}.plan",
        "plan_ratings",
        "Plan the dialogues and annotators of a study of ratings, or compute its power.",
    ),
    "behaviours": Command(
        f"{_HERE}.plan",
        "plan_behaviours",
        "Plan the dialogues and annotators of a study of behaviours, or compute its power.",
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
