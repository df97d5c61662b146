"""The program of a service's workers: it imports what models need, and forks the processes that load them and answer.

Imports take seconds: only the first model waits for them, all share their memory, and a model's process that was killed
is forked again without them. Over the control socket, which this program inherits, the service sends the kind of a
model and a socket for each process to fork. On that socket each line is a JSON document. The process sends
`{"pid": ...}`, gets the model, and sends `{"ready": ...}` or `{"failed": ...}`; then it gets `{"requests": [...]}` and
answers `{"results": [...]}`, a result being the JSON object of the model's kind or `{"error": ...}`. A process ends
when the other end of its socket is closed, and the program when that of the control socket is.

The program itself computes nothing and touches no GPU: neither the threads of torch nor CUDA survive a fork.
"""

import argparse
import contextlib
import dataclasses
import gc
import json
import os
import signal
import socket
import sys
import traceback
import warnings
from typing import NoReturn

from spotthebot.inference.models import LoadFailed, load, prepare
from spotthebot.inference.models.batch import run_batch


def main() -> None:
    """Fork processes until the control socket closes."""
    parser = argparse.ArgumentParser(prog="python -m spotthebot.inference.workers.process")
    parser.add_argument("--fd", type=int, required=True, help="the inherited control socket")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the service, which then closes the sockets
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that ended processes leave nothing behind
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)  # of threads that BLAS keeps
    gc.disable()  # a fifth of the time goes into looking for garbage among what is imported
    with socket.socket(fileno=arguments.fd) as control:
        while True:
            kind, descriptors, _, _ = socket.recv_fds(control, 4096, 1)
            if not descriptors:
                return
            with contextlib.suppress(ImportError, AttributeError):  # the process that loads the model says it
                prepare(kind.decode())
            gc.freeze()  # so that a collection in a forked process copies no pages
            if os.fork() == 0:
                control.close()
                _run_forked(descriptors[0])
            os.close(descriptors[0])


def _run_forked(descriptor: int) -> NoReturn:
    """Answer until the socket closes, and end the process whatever happens: the rest of the program is not for it."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        gc.enable()
        _answer(socket.socket(fileno=descriptor))
        code = 0
    except ConnectionError:  # the service has no more use for the model
        code = 0
    except Exception:  # noqa: BLE001 - shown as where a program ends by it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _answer(connection: socket.socket) -> None:
    """Load the model and answer; the connection stays open until the process has ended, for which the service waits."""
    lines = connection.makefile("rwb")

    def write(document: dict[str, object]) -> None:
        lines.write(json.dumps(document).encode() + b"\n")
        lines.flush()

    write({"pid": os.getpid()})
    model = json.loads(lines.readline())
    _set_title(model["kind"], model["model"])
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


def _set_title(kind: str, model: str) -> None:
    """Let `ps` show which model the process has loaded, where setproctitle is installed, as it is with the suite."""
    with contextlib.suppress(ImportError):
        from setproctitle import setproctitle  # noqa: PLC0415 - a service alone does without

        setproctitle(f"python -m spotthebot.inference.workers.process {kind} {model}")


if __name__ == "__main__":
    main()
