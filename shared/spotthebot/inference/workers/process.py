"""The worker process: loads one model and answers batches over the socket it inherited.

Each line is a JSON document: `{"requests": [...]}` in, `{"results": [...]}` out, a result being the JSON object of the
model's kind or `{"error": ...}`; the first line out says `{"ready": ...}` or `{"failed": ...}`. The process ends when
the other end of the socket is closed.
"""

import argparse
import dataclasses
import json
import os
import signal
import socket

from spotthebot.inference.models import LoadFailed, load
from spotthebot.inference.models.batch import run_batch


def main() -> None:
    """Answer until the socket closes."""
    parser = argparse.ArgumentParser(prog="python -m spotthebot.inference.workers.process")
    parser.add_argument("--fd", type=int, required=True, help="the inherited socket")
    parser.add_argument("--kind", required=True, help="function that loads the model: package.module:function")
    parser.add_argument("--model", required=True, help="directory, or name on a model hub")
    parser.add_argument("--revision", help="commit or tag on the hub")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the service, which then closes the socket
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    where = {"device": arguments.device, "dtype": arguments.dtype, "revision": arguments.revision}
    with socket.socket(fileno=arguments.fd) as connection, connection.makefile("rwb") as lines:

        def write(document: dict[str, object]) -> None:
            lines.write(json.dumps(document).encode() + b"\n")
            lines.flush()

        try:
            model = load(arguments.kind, arguments.model, **where)
        except (LoadFailed, ImportError) as error:
            write({"failed": getattr(error, "reason", str(error))})
            return
        write({"ready": dataclasses.asdict(model.description)})
        for line in lines:
            write({"results": run_batch(model, json.loads(line)["requests"])})


if __name__ == "__main__":
    main()
