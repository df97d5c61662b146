import os
import socket
from pathlib import Path

import pytest

from spotthebot.kit.processes.errors import CannotListen, PortTaken
from spotthebot.kit.processes.sockets import bind


class TestBind:
    def test_listens_on_a_free_port(self):
        with bind("127.0.0.1", 0) as listening:
            address = listening.getsockname()
            assert address[1] > 0
            with socket.create_connection(address) as caller:
                accepted, peer = listening.accept()
                with accepted:
                    assert peer == caller.getsockname()

    def test_listens_on_ipv6(self):
        if not Path("/proc/sys/net/ipv6").exists():
            pytest.skip("this machine has no IPv6")
        with bind("::1", 0) as listening:
            assert listening.family == socket.AF_INET6

    def test_may_be_inherited(self):
        with bind("127.0.0.1", 0) as listening:
            assert os.get_inheritable(listening.fileno())

    def test_answers_are_sent_without_delay(self):
        with bind("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1

    def test_names_the_port_that_is_taken(self):
        with bind("127.0.0.1", 0) as first:
            port = first.getsockname()[1]
            with pytest.raises(PortTaken, match=f"Port {port} is taken: choose another with --port-base."):
                bind("127.0.0.1", port)
        bind("127.0.0.1", port).close()

    def test_refuses_an_address_of_another_machine(self):
        # 192.0.2.0/24 is nobody's (RFC 5737).
        with pytest.raises(CannotListen, match=r"No service can listen on 192\.0\.2\.1, port 0"):
            bind("192.0.2.1", 0)
