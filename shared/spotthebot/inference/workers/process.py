"""The process of one model. It loads the model, and answers requests until the other end of its socket is closed.

It is forked from a program that has imported torch (`forked_process`): only the first model waits for the import of
torch, and a killed process is forked again in a moment. Each line on the inherited socket is a JSON document. The
process first sends `{"ready": ...}` or `{"failed": ...}`. After that it receives `{"requests": [...]}` and answers
`{"results": [...]}`. A result is a JSON object, as the model's kind defines it, or `{"error": ...}`.
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

from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.errors import LoadFailed
from spotthebot.inference.models.protocol import load


def main() -> NoReturn:
    """Answer requests until the socket closes. Then end the process without torch's own clean-up."""
    parser = argparse.ArgumentParser(prog="python -m spotthebot.inference.workers.process")
    parser.add_argument("model", type=json.loads, help="the fields of `WorkerModel`, as JSON")
    parser.add_argument("--fd", type=int, required=True, help="the inherited socket")
    arguments = parser.parse_args()
    code = 1
    try:
        _answer(arguments.model, socket.socket(fileno=arguments.fd))
        code = 0
    except ConnectionError:  # the service no longer needs the model
        code = 0
    except Exception:  # noqa: BLE001 - printed as at the end of a program
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _answer(model: Mapping[str, Any], connection: socket.socket) -> None:
    """Load the model and answer requests.

    The connection stays open until the process has ended, since the service waits for its end.
    """
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
