internal import Glibc
package import PrefetchCore

/// This machine's clock; its uptime includes suspended time.
package final class SystemClock: Clock, Sendable {
  package init() {}

  package func now() -> Moment {
    let wall = Self.read(CLOCK_REALTIME)
    let uptime = Self.read(CLOCK_BOOTTIME)
    return Moment(wall: Instant(milliseconds: wall.milliseconds), uptime: uptime)
  }

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else { return .zero }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
