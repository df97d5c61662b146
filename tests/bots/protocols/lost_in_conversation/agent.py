"""An agent that reads a text as the agent of github.com/atselousov/transformer_chatbot does, without its weights.

Runs in ParlAI's environment, as `agent:TransformerAgent`, with the two changes of docs/hosting.md.
"""

from parlai.core.agents import Agent
from parlai.core.message import Message


class TransformerAgent(Agent):  # type: ignore[misc] # its types are in the environment of ParlAI alone
    """Keeps the lines of a persona and of a conversation, and answers with both."""

    @classmethod
    def add_cmdline_args(cls, parser, _partial_opt=None):
        return parser

    def __init__(self, opt, shared=None):
        super().__init__(opt, shared)
        self.id = "LC"
        self.reset()

    def reset(self):
        super().reset()
        self.persona, self.said = [], []

    def observe(self, observation):
        self.observation = observation
        for line in map(str.strip, observation.get("text", "").split("\n")):
            if line.startswith("your persona:"):
                self.persona.append(line.removeprefix("your persona:").strip())
            elif line:
                self.said.append(line)
        return observation

    def act(self):
        persona = "; ".join(self.persona) or "nobody"
        return Message({"id": self.id, "text": f"I am {persona}. {len(self.said)} turns: {self.said[-1:]}"})
