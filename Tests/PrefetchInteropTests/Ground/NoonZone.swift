@unsafe @preconcurrency import Glibc
import PrefetchCore

/// A time zone in which it is noon now, so that no test runs across midnight.
struct NoonZone {
  /// Name of the zone for configurations.
  let name: String
  /// Seconds east of UTC.
  private let offset: Int64
  private let now: Int64

  init() {
    now = Int64(time(nil))
    let hours = 12 - now % 86_400 / 3600
    offset = hours * 3600
    // The names have the sign of POSIX: west is positive.
    name = hours == 0 ? "Etc/GMT" : "Etc/GMT\(hours > 0 ? "-" : "+")\(abs(hours))"
  }

  /// Returns the next moment of a full hour in the zone, as reports write it.
  func next(_ hour: Int64) -> String {
    let midnight = (now + offset) / 86_400 * 86_400 - offset
    let today = midnight + hour * 3600
    return Timestamp.format(Instant(seconds: today > now ? today : today + 86_400))
  }

  /// Value for `TZ` whose clock is set forward by an hour at the next midnight.
  var springForward: String {
    let hours = -offset / 3600
    let today = (now + offset) / 86_400
    // The rule counts the days of a year from 0.
    let year = Timestamp.format(Instant(seconds: (today + 1) * 86_400)).prefix(4)
    let newYear = Timestamp.parse("\(year)-01-01T00:00:00Z").map { $0.milliseconds / 1000 } ?? 0
    let day = today + 1 - newYear / 86_400
    return "AAA\(hours)BBB\(hours - 1),\(day)/0,\((day + 30) % 365)/0"
  }

  /// Returns the time of ``next(_:)`` in the zone with the changed clock.
  func nextAfterSpring(_ hour: Int64) -> String {
    let midnight = (now + offset) / 86_400 * 86_400 - offset
    return Timestamp.format(Instant(seconds: midnight + 86_400 + (hour - 1) * 3600))
  }
}
