"""The process of one model: it loads the model, and answers until the other end of its socket is closed.

It is forked from a program that has imported torch (`forked_process`): only the first model waits for that, and a
model's process that was killed is forked again in a moment. On the socket, which the process inherits, each line is a
JSON document. The process sends `{"ready": ...}` or `{"failed": ...}`; then it gets `{"requests": [...]}` and answers
`{"results": [...]}`, a result being the JSON object of the model's kind or `{"error": ...}`.
"""

import argparse
import dataclasses
import json
import os
import socket
import sys
import traceback
from collections.abc import Mapping
from typing import Any, NoReturn

from spotthebot.inference.models import LoadFailed, load
from spotthebot.inference.models.batch import run_batch


def main() -> NoReturn:
    """Answer until the socket closes, then end without what torch does at an end."""
    parser = argparse.ArgumentParser(prog="python -m spotthebot.inference.workers.process")
    parser.add_argument("model", type=json.loads, help="the fields of `WorkerModel`, as JSON")
    parser.add_argument("--fd", type=int, required=True, help="the inherited socket")
    arguments = parser.parse_args()
    code = 1
    try:
        _answer(arguments.model, socket.socket(fileno=arguments.fd))
        code = 0
    except ConnectionError:  # the service has no more use for the model
        code = 0
    except Exception:  # noqa: BLE001 - shown as where a program ends by it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _answer(model: Mapping[str, Any], connection: socket.socket) -> None:
    """Load the model and answer; the connection stays open until the process has ended, for which the service waits."""
    lines = connection.makefile("rwb")

    def write(document: dict[str, object]) -> None:
        lines.write(json.dumps(document).encode() + b"\n")
        lines.flush()

    try:
        loaded = load(
            model["kind"], model["model"], device=model["device"], dtype=model["dtype"], revision=model["revision"]
        )
    except (LoadFailed, ImportError) as error:
        write({"failed": getattr(error, "reason", str(error))})
        return
    write({"ready": dataclasses.asdict(loaded.description)})
    for line in lines:
        write({"results": run_batch(loaded, json.loads(line)["requests"])})


if __name__ == "__main__":
    main()
