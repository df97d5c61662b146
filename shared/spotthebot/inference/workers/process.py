"""The program of a model's worker: it imports what loading needs, then forks the process that loads and answers.

Imports take seconds, and a model's process that was killed is forked again without them. Over the control socket, which
this program inherits, the service sends a socket for each process to fork. On that socket each line is a JSON
document: `{"requests": [...]}` in, `{"results": [...]}` out, a result being the JSON object of the model's kind or
`{"error": ...}`; the first line out says `{"ready": ...}` or `{"failed": ...}`. A process ends when the other end of
its socket is closed, and the program when that of the control socket is and its processes have ended.

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
    parser.add_argument("--kind", required=True, help="function that loads the model: package.module:function")
    parser.add_argument("--model", required=True, help="directory, or name on a model hub")
    parser.add_argument("--revision", help="commit or tag on the hub")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the service, which then closes the sockets
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that ended processes leave nothing behind
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    gc.disable()  # a fifth of the time goes into looking for garbage among what is imported
    with contextlib.suppress(ImportError, AttributeError):  # the process that loads the model says what is missing
        prepare(arguments.kind)
    gc.freeze()  # so that a collection in a forked process copies no pages
    gc.enable()
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)  # of threads that BLAS keeps
    with socket.socket(fileno=arguments.fd) as control:
        while (descriptor := _receive(control)) is not None:
            if os.fork() == 0:
                control.close()
                _run_forked(descriptor, arguments)
            os.close(descriptor)
    with contextlib.suppress(ChildProcessError):
        os.wait()  # returns when none is left


def _receive(control: socket.socket) -> int | None:
    """Return the next socket to fork a process for; None at the end."""
    message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    return descriptors[0] if message else None


def _run_forked(descriptor: int, arguments: argparse.Namespace) -> NoReturn:
    """Answer until the socket closes, and end the process whatever happens: the rest of the program is not for it."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _answer(descriptor, arguments)
        code = 0
    except Exception:  # noqa: BLE001 - shown as where a program ends by it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _answer(descriptor: int, arguments: argparse.Namespace) -> None:
    where = {"device": arguments.device, "dtype": arguments.dtype, "revision": arguments.revision}
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rwb") as lines:

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
