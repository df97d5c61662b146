"""ParlAI's own chatbot worlds, with the messages of its websocket service sent where that is allowed.

Runs in ParlAI's environment, as the `world_module` of a task. ParlAI's worlds write to the socket from threads of their
own, although tornado's sockets belong to the thread of their loop: about one conversation in ten then gets a message
twice and no other ever after.
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


WebsocketManager.observe_message = send_from_the_loop
