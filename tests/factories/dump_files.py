"""Files of the published data as a test writes them, with every trap on demand."""

import json
import zipfile
from pathlib import Path

from spotthebot.importers.published_dump.dump import open_dump

CONVERSATIONS = "sampled-dialogues-full-dailydialog.json"
PACKAGES = "packed-dialogues-full-dailydialog.json"
ANNOTATIONS = "annotated-dialogues-full-dailydialog.json"
PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "spot-the-bot"


def oid(number):
    return f"{number:024x}"


TALK, TALK_OF_HUMANS, PACKAGE, ANNOTATION = oid(1), oid(2), oid(3), oid(4)


def conversation(_id=TALK, types=("huggingface", "suckybot"), turns=6, **changes):
    return {
        "_id": {"$oid": _id},
        "domain_name": "dailydialog",
        "system_name0": f"tmp/{types[0]}/model",
        "system_name1": f"tmp/{types[1]}/model",
        "system_type0": types[0],
        "system_type1": types[1],
        "is_human0": types[0] == "human",
        "is_human1": types[1] == "human",
        # Numbered 1, 2, 2, 3 as half of the published conversations of bots are.
        "convo": [
            {"exchange_nr": 1 + (k + 1) // 2, "id": types[k % 2], "text": f"text {k}", "episode_done": False}
            for k in range(turns)
        ],
    } | changes


def package(_id=PACKAGE, segments=((TALK, 3), (TALK_OF_HUMANS, 5)), **changes):
    return {
        "_id": {"$oid": _id},
        "package": [{"convo_id": convo_id, "start_turn": turn} for convo_id, turn in segments],
    } | changes


def entity(side, **changes):
    return {
        "entity_number": side,
        "decision_turn": 4,
        "is_human": False,
        "fluencyValue": True,
        "sensitivenessValue": True,
        "specificityValue": True,
    } | changes


def annotation(_id=ANNOTATION, first=None, second=None, **changes):
    return {
        "_id": {"$oid": _id},
        "convo_id": TALK,
        "package_id": PACKAGE,
        "user_name": "A31XT6RPLN6359",
        "random_number": {"$numberLong": "4707764643"},
        "start_time": {"$numberLong": "1589459205478"},
        "end_time": {"$numberLong": "1589459286464"},
        "elapsed_time": 80986,
        "entity0_annotation": entity(0, **(first or {})),
        "entity1_annotation": entity(1, **(second or {})),
    } | changes


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def zip_of(folder, path, prefix="", **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{prefix}{file.name}")
            archive.writestr(f"__MACOSX/{prefix}{file.name}", "shadow")
            archive.writestr(f"__MACOSX/{prefix}._{file.name}", "shadow")
    return path


def read(place, domain="dailydialog"):
    with open_dump(place, domain) as dump:
        return list(dump.conversations()), list(dump.packages()), list(dump.annotations())
