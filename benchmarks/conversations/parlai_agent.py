"""The agent that ParlAI's `self_chat` loads, in ParlAI's own environment: it asks the bot over HTTP.

It keeps its connection, as our service does, so that the comparison is of the two ways to run conversations alone.
"""

import http.client
import json
import os
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from parlai.core.agents import Agent


class HttpAgent(Agent):  # type: ignore[misc] # ParlAI has no types
    """Hears what was said, asks the bot for what to say, and notes when it asked and when it was answered."""

    def __init__(self, opt: dict[str, Any], shared: dict[str, Any] | None = None) -> None:
        super().__init__(opt, shared)
        self.id = "HttpAgent"
        self._heard: list[str] = []
        self._conversation = str(uuid.uuid4())
        target = urlsplit(os.environ["SPOTTHEBOT_BENCHMARK_BOT"])
        self._path = target.path or "/"
        self._http = http.client.HTTPConnection(target.hostname or "", target.port)

    def observe(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Hear an utterance of the other side."""
        if observation.get("text"):
            self._heard.append(observation["text"])
        return observation

    def act(self) -> dict[str, Any]:
        """Ask the bot and say what it answers."""
        began = time.monotonic()
        spoken = [{"speaker": "AB"[at % 2], "text": text} for at, text in enumerate(self._heard)]
        question = {"conversation_id": self._conversation, "turn": len(spoken), "turns": spoken}
        self._http.request("POST", self._path, json.dumps(question), {"Content-Type": "application/json"})
        text = json.loads(self._http.getresponse().read())["text"]
        with Path(os.environ["SPOTTHEBOT_BENCHMARK_TIMES"]).open("a", encoding="utf-8") as times:
            times.write(f"[{began}, {time.monotonic()}]\n")
        self._heard.append(text)
        return {"id": self.id, "text": text, "episode_done": False}

    def reset(self) -> None:
        """Begin another conversation."""
        super().reset()
        self._heard.clear()
        self._conversation = str(uuid.uuid4())
