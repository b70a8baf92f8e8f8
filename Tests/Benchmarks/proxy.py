"""A TCP proxy that passes bytes on after a while: the latency of a network, with no limit of speed.

The handshake of TCP is the kernel's and not delayed, for no side.

Usage: proxy.py SERVER-PORT MILLISECONDS; prints the port it listens on.
"""

import asyncio
import sys

SERVER, DELAY = int(sys.argv[1]), float(sys.argv[2]) / 1000


class End(asyncio.Protocol):
    """One end of a connection; what it receives leaves at the other end later, in order."""

    def __init__(self, other=None):
        self.other, self.transport, self.early = other, None, []

    def connection_made(self, transport):
        self.transport = transport
        if self.other is None:
            loop.create_task(self.connect())

    async def connect(self):
        _, self.other = await loop.create_connection(lambda: End(self), "127.0.0.1", SERVER)
        for data in self.early:
            self.pass_on(data)

    def data_received(self, data):
        loop.call_later(DELAY, self.pass_on, data)

    def pass_on(self, data):
        if self.other is None:
            self.early.append(data)
        elif not self.other.transport.is_closing():
            self.other.transport.write(data)

    def connection_lost(self, error):
        if self.other is not None:
            loop.call_later(DELAY, self.other.transport.close)


async def listen():
    server = await loop.create_server(End, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


loop = asyncio.new_event_loop()
loop.run_until_complete(listen())
