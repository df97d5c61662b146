"""Other people's programs that serve dialogue models, as the real peers of our protocols.

Each runs on a free port of the loopback address in an environment of its own, and is skipped, saying why, where that
cannot be made.
"""

import asyncio
import json
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from spotthebot.kit.processes.spec import ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
from spotthebot.local.environments import PARLAI, TRANSFORMERS_SERVE, Environment, EnvironmentNotMade, ensure

HOST = "127.0.0.1"
_START_SECONDS = 90
# ParlAI writes its logs wherever it is started. A fifth of the time to import torch went into looking for garbage.
_ELSEWHERE = (
    "import gc, os, runpy, sys; gc.set_threshold(20_000, 20, 20); os.chdir(sys.argv.pop(1)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


@asynccontextmanager
async def transformers_serve(model_directory: Path) -> AsyncIterator[str]:
    """`transformers serve` of one model with a chat template; yields the base URL of its OpenAI-compatible API.

    The base URL ends in /v1; there is no key. A request names the directory as its model, or none; fields that OpenAI
    does not have (`top_k`, `repetition_penalty`) are refused with status 422, and no messages end in 500. What it
    streams ends with the chunk that has a `finish_reason`: no "[DONE]" follows. GET /health answers 200 when the model
    is loaded; GET /v1/models lists what lies in the hub's cache, not this model.
    """
    async with _running(
        TRANSFORMERS_SERVE,
        ("transformers.cli.transformers", "serve", str(model_directory), "--device", "cpu", "--host", HOST),
        ready_path="/health",
    ) as port:
        yield f"http://{HOST}:{port}/v1"


LC = "agent:TransformerAgent"
_OF_LC = str(Path(__file__).with_name("lost_in_conversation"))


@asynccontextmanager
async def parlai_interactive_web(model: str = "repeat_query") -> AsyncIterator[str]:
    """ParlAI's `interactive_web` with an agent that needs no weights; yields its URL.

    POST /interact: the body is the other's utterance as raw UTF-8, not JSON, and must come with its Content-Length; the
    answer is `{"id": ..., "text": ..., "episode_done": false}`, agents add keys of their own. A body that cannot be
    read, or an agent that fails, closes the connection without any status. POST /reset forgets the history, answers
    `{}`. One agent, one history, one request at a time, shared by all callers; HTTP/1.0, a connection for each request.
    Where a context is given as lines, `repeat_query` repeats the last one.
    """
    async with _running(
        PARLAI, ("parlai.scripts.interactive_web", "--model", model, "--host", HOST), ready_path="/", PYTHONPATH=_OF_LC
    ) as port:
        yield f"http://{HOST}:{port}"


@asynccontextmanager
async def parlai_websocket_chat(model: str = "repeat_query", *, thread_safe: bool = True) -> AsyncIterator[str]:
    """ParlAI's websocket chat service with the worlds that come with it; yields its ws:// URL.

    Frames are texts of JSON: `{"text": ...}` from the client, `{"text": ..., "quick_replies": null | [...]}` from the
    server. One socket is one user:

    - The server says nothing until the first message, which no bot sees: it is answered by the welcome of the
      "overworld" with the quick replies "begin" and "exit".
    - "begin" is answered by the welcome of the bot, after 0.5 to 1.1 s; what is sent before that is lost. The whole
      service begins one conversation each 0.3 s.
    - Then each message is answered by one, after up to 0.3 s. "[RESET]" anywhere in a text forgets the history and is
      answered "[History Cleared]".
    - "[DONE]" anywhere in a text ends the conversation; 0.6 s later comes the overworld's welcome. There "begin" starts
      another one, and "exit" is answered "See you later!". The server never closes a socket, unless a frame is no JSON.
    - A socket that is closed before "[DONE]" and "exit" keeps one of the 100 threads for good; when there is none left,
      new users get no answer.

    `thread_safe=False` leaves ParlAI as it is: about one first message in ten, and one reply in fifty, is sent twice,
    after which the conversation is dead, and an "exit" right after the overworld's second welcome may be lost (see
    `parlai_worlds`).
    """
    worlds = "parlai_worlds" if thread_safe else "parlai.chat_service.tasks.chatbot.worlds"
    task = {
        "tasks": {
            "default": {
                "onboard_world": "MessengerBotChatOnboardWorld",
                "task_world": "MessengerBotChatTaskWorld",
                "agents_required": 1,
            }
        },
        "task_name": "chatbot",
        "world_module": worlds,
        "overworld": "MessengerOverworld",
        "max_workers": 100,
        # The world takes the model of this name, whatever it is.
        "opt": {"debug": False, "models": {"blender_90M": {"model": model, "interactive_mode": True}}},
        "additional_args": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yml"
        config.write_text(json.dumps(task))  # JSON is YAML
        shutil.copy(Path(__file__).with_name("parlai_worlds.py"), folder)
        program = "parlai.chat_service.services.websocket.run"
        async with _running(
            PARLAI, (program, "--config-path", str(config)), PYTHONPATH=f"{folder}{os.pathsep}{_OF_LC}"
        ) as port:
            yield f"ws://{HOST}:{port}/websocket"


@asynccontextmanager
async def _running(
    environment: Environment, command: tuple[str, ...], ready_path: str | None = None, **variables: str
) -> AsyncIterator[int]:
    try:
        python = await asyncio.to_thread(ensure, environment)
    except EnvironmentNotMade as error:
        pytest.skip(str(error))
    with tempfile.TemporaryDirectory() as folder, socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # theirs has it, too, so they may share
        reserved.bind((HOST, 0))
        port = reserved.getsockname()[1]
        hub = {"HF_HOME": folder, "HF_HUB_OFFLINE": "1", "GOMP_SPINCOUNT": "1000"}
        data = ("--datapath", folder) if environment is PARLAI else ()
        spec = ProcessSpec(
            name=environment.name,
            argv=(str(python), "-c", _ELSEWHERE, folder, *command, "--port", str(port), *data),
            log_file=Path(folder) / "log",
            env=os.environ | hub | variables,
            ready_url=f"http://{HOST}:{port}{ready_path}" if ready_path else None,
            start_timeout_seconds=_START_SECONDS,
        )
        async with Supervisor([spec]) as supervisor:
            await _listening(port, supervisor, spec.log_file)
            yield port


async def _listening(port: int, supervisor: Supervisor, log_file: Path) -> None:
    async with asyncio.timeout(_START_SECONDS):
        while True:
            assert supervisor.status()[0].pid, _end_of(log_file)
            try:
                _, writer = await asyncio.open_connection(HOST, port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


def _end_of(log_file: Path) -> str:
    return log_file.read_text()[-2000:]
