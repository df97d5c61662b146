"""ParlAI's `self_chat` over the same bot: one process, one conversation at a time, all in memory."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spotthebot.local.environments import PARLAI, ensure

_START_SECONDS = 120


@dataclass(frozen=True)
class SelfChat:
    """What a run of `self_chat` came to, its start-up left out: from the first question to the last reply."""

    turns: int
    seconds: float


def self_chat(url: str, *, chats: int, exchanges: int) -> SelfChat:
    """Let ParlAI hold so many conversations; raises EnvironmentNotMade where it can't be installed."""
    python = ensure(PARLAI)
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times.jsonl"
        command = (
            *(
                str(python),
                "-m",
                "parlai.scripts.self_chat",
                "--model",
                "benchmarks.conversations.parlai_agent:HttpAgent",
            ),
            *("--task", "self_chat", "--num-self-chats", str(chats), "--selfchat-max-turns", str(exchanges)),
            *("--display-examples", "False", "--outfile", str(Path(folder) / "chats"), "--datapath", folder),
        )
        ours = {
            "SPOTTHEBOT_BENCHMARK_BOT": url,
            "SPOTTHEBOT_BENCHMARK_TIMES": str(times),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        longest = _START_SECONDS + 10 * chats * exchanges
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, cwd=folder, env=os.environ | ours, capture_output=True, text=True, timeout=longest, check=False
        )
        if done.returncode:
            message = f"self_chat ended with status {done.returncode}: {done.stderr[-2000:]}"
            raise RuntimeError(message)
        spans = [json.loads(line) for line in times.read_text(encoding="utf-8").splitlines()]
    began, ended = min(span[0] for span in spans), max(span[1] for span in spans)
    return SelfChat(len(spans), ended - began)
