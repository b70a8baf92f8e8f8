"""SIGKILL at every call that touches files or the network."""
import random
import shutil

import shim
from ground import expect
from scenarios import ALL

KILLED = 128 + 9


class Kills:
    """Killed before the n-th call, of which a write has written half."""

    name = "kill points"
    goal = 10_000
    short = 60

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
        chosen, points = random.Random(seed), []
        for kind in ALL:
            calls = range(1, self.total(kind.name()) + 1)
            if kind.points:
                calls = chosen.sample(calls, min(len(calls), kind.points))
            points += [(kind.name(), call) for call in calls]
        chosen.shuffle(points)
        return points

    def play(self, case):
        name, call = case
        ground = self.ground(name)
        ground.reset()
        run = self.kill(ground, call)
        try:
            expect(run.status == KILLED or run.status in ground.statuses, f"{run}")
            ground.check_broken()
            ground.check_next()
        except Exception as error:
            raise type(error)(f"killed at {shim.report(ground.home)}: {error}") from error

    def kill(self, ground, call):
        return ground.start(shim.variables(ground.home, at=call))

    def close(self):
        for ground in self.grounds.values():
            ground.close()


class TracedKills(Kills):
    """Killed by a tracer after the n-th system call of any kind, which no library can miss."""

    name = "traced kills"
    goal = 500
    short = 10

    @classmethod
    def lacks(cls):
        return None if shutil.which("strace") else "needs strace"

    def cases(self, seed):
        """Calls of each thread, since the tracer counts them apart."""
        chosen = random.Random(seed)
        names = [kind.name() for kind in ALL if kind.points is None]
        return [(chosen.choice(names), chosen.randint(60, 900)) for _ in range(self.goal * 2)]

    def kill(self, ground, call):
        calls = "%file,%network,%desc,%memory,%process"
        fault = f"inject={calls}:signal=KILL:when={call}"
        under = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", fault)
        return ground.start(under=under)
