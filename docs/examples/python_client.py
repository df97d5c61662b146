"""Two bots talk to each other, and the conversations are printed: `python python_client.py BOTS CONVERSATIONS KEY`."""

import sys

from spotthebot.clients import Bots, Conflict, Conversations, Invalid
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.conversations.collections import AllPlayAllIn


def main(bots_url: str, conversations_url: str, key: str) -> None:
    """Register two bots, let them talk, follow the collection, print the conversations."""
    with Bots(bots_url, key) as bots, Conversations(conversations_url, key) as conversations:
        for model in ("eliza", "dull"):
            protocol = BuiltinProtocol(kind="builtin", model=model)
            try:
                bots.register_bot(BotIn(name=model, domains=("everyday",), protocol=protocol))
            except Conflict:
                print(f"{model} is registered already.")

        ids = tuple(bot.id for bot in bots.list_bots() if bot.name in {"eliza", "dull"})
        plan = AllPlayAllIn(
            mode="all_play_all",
            name="python-client",
            domain="everyday",
            bots=ids,
            exchanges=3,
            conversations_per_pair=2,
        )
        try:
            # With a key of its own, the same plan sent again returns the same collection.
            collection = conversations.create_collection(plan, idempotency_key="python-client-1")
        except Invalid as refused:
            sys.exit("\n".join(map(str, refused.problem.errors)) or str(refused))

        for event in conversations.watch_collection(collection.id):
            print(f"{event.event}: {event.data.complete} of {event.data.conversations} conversations")

        for conversation in conversations.list_conversations(collection.id):
            first, second = conversation.participants
            print(f"\n{first.name} and {second.name}")
            for turn in conversation.turns:
                print(f"  {turn.speaker}: {turn.text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
