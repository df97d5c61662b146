"""What models of our own are asked: on Triton, and in worker processes."""

from spotthebot.bots.protocols.triton import generation_request
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.protocols import Sampling


class TestGenerationRequest:
    def test_holds_the_turns_the_persona_and_the_settings(self):
        asked = generation_request(Context(("Hi.", "Yes?"), 7, persona="I ski.", temperature=0.5), Sampling(top_k=3))
        assert {name: asked[name] for name in ("turns", "persona", "seed", "temperature", "top_k")} == {
            "turns": ["Hi.", "Yes?"],
            "persona": "I ski.",
            "seed": 7,
            "temperature": 0.5,
            "top_k": 3,
        }
