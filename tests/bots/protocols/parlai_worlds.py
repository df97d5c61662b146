"""ParlAI's own chatbot worlds, without two races of its websocket service.

Runs in ParlAI's environment, as the `world_module` of a task.

- ParlAI's worlds write to the socket from threads of their own, although tornado's sockets belong to the thread of
  their loop: about one conversation in ten then gets a message twice and no other ever after.
- After a conversation ParlAI starts the overworld first, whose welcome leaves from a thread of its own, and hands it
  the user's messages second: a quick user's answer goes to the conversation that has ended, and nobody reads it.
"""

import json

import tornado.ioloop
from parlai.chat_service.services.websocket.websocket_manager import WebsocketManager
from parlai.chat_service.tasks.chatbot.worlds import (  # noqa: F401 - ParlAI looks for them here, by name
    MessengerBotChatOnboardWorld,
    MessengerBotChatTaskWorld,
    MessengerOverworld,
)

LOOP = tornado.ioloop.IOLoop.current()


def send_from_the_loop(manager, socket_id, message, quick_replies=None):
    if socket_id in manager.subs:
        frame = json.dumps({"text": message, "quick_replies": quick_replies and list(quick_replies)})
        LOOP.add_callback(manager.subs[socket_id].write_message, frame)


def launch_overworld_for_listeners(manager, agent_id):
    state = manager.get_agent_state(agent_id)
    if state is not None:
        state.set_active_agent(state.get_overworld_agent())
    launch_overworld(manager, agent_id)


launch_overworld = WebsocketManager._launch_overworld
WebsocketManager.observe_message = send_from_the_loop
WebsocketManager._launch_overworld = launch_overworld_for_listeners
