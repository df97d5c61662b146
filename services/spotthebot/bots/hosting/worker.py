"""The worker process: loads one model and answers batches over the socket it inherited.

A line is a JSON document each way: `{"requests": [...]}` in, `{"answers": [...]}` out, an answer being
`{"text": ...}` or `{"error": ...}`; the first line out says `{"ready": ...}` or `{"failed": ...}`. When the other end
goes away, so does the worker.
"""

import argparse
import dataclasses
import json
import os
import signal
import socket

from spotthebot.bots.dialogue_models import LoadFailed, load
from spotthebot.bots.dialogue_models.serving import answers


def main() -> None:
    """Serve until the socket closes."""
    parser = argparse.ArgumentParser(prog="python -m spotthebot.bots.hosting.worker")
    parser.add_argument("--fd", type=int, required=True, help="the inherited socket")
    parser.add_argument("--model", required=True, help="directory, or name on a model hub")
    parser.add_argument("--revision", help="commit or tag on the hub")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the service, which then closes the socket
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    with socket.socket(fileno=arguments.fd) as connection, connection.makefile("rwb") as lines:

        def say(document: dict[str, object]) -> None:
            lines.write(json.dumps(document).encode() + b"\n")
            lines.flush()

        try:
            model = load(arguments.model, device=arguments.device, dtype=arguments.dtype, revision=arguments.revision)
        except (LoadFailed, ImportError) as error:
            say({"failed": getattr(error, "reason", str(error))})
            return
        say({"ready": dataclasses.asdict(model.description)})
        for line in lines:
            say({"answers": answers(model, json.loads(line)["requests"])})


if __name__ == "__main__":
    main()
