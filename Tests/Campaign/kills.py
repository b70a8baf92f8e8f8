"""SIGKILL at every call that touches files or the network."""
import random

import shim
from ground import expect
from scenarios import ALL


class Kills:
    """One case is a scenario and the number of a call."""

    name = "kill points"
    goal = 10_000

    def __init__(self, binary):
        self.binary = binary
        self.grounds = {}
        self.totals = {}

    def ground(self, name):
        if name not in self.grounds:
            kind = next(kind for kind in ALL if kind.name() == name)
            self.grounds[name] = kind(self.binary)
        return self.grounds[name]

    def total(self, name):
        """Counts the calls of a scenario that is left alone."""
        if name not in self.totals:
            ground = self.ground(name)
            ground.reset()
            run = ground.start(shim.variables(ground.home, at=0))
            expect(run.status in ground.statuses, f"{name}, left alone: {run}")
            self.totals[name] = int(shim.report(ground.home))
            ground.check_next()
        return self.totals[name]

    def cases(self, seed):
        """All calls of all scenarios in an order that the seed gives."""
        points = [(kind.name(), call) for kind in ALL for call in range(1, self.total(kind.name()) + 1)]
        random.Random(seed).shuffle(points)
        return points

    def play(self, case):
        name, call = case
        ground = self.ground(name)
        ground.reset()
        run = ground.start(shim.variables(ground.home, at=call))
        expect(run.status == 128 + 9 or run.status in ground.statuses, f"{run}")
        try:
            ground.check_broken()
            ground.check_next()
        except Exception as error:
            raise type(error)(f"killed at {shim.report(ground.home)}: {error}") from error

    def close(self):
        for ground in self.grounds.values():
            ground.close()
