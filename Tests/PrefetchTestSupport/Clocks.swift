internal import Glibc
package import PrefetchCore

/// A clock that only moves when a test moves it.
package final class FakeClock: Clock {
  private var moment: Moment

  package init(
    wall: Instant = Instant(seconds: 1_700_000_000),
    uptime: Duration = .seconds(1_000)
  ) {
    moment = Moment(wall: wall, uptime: uptime)
  }

  package func now() -> Moment {
    moment
  }

  package func advance(by duration: Duration) {
    moment.wall = moment.wall + duration
    moment.uptime += duration
  }
}

/// The machine's real clock, for tests with real sockets.
package final class RunningClock: Clock {
  package init() {}

  package func now() -> Moment {
    let wall = Self.read(CLOCK_REALTIME)
    let uptime = Self.read(CLOCK_MONOTONIC)
    return Moment(wall: Instant(milliseconds: wall.milliseconds), uptime: uptime)
  }

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
