internal import Glibc

/// Time for intervals within one worker; never compared with anyone else's.
enum Uptime {
  static func now() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Duration(
      secondsComponent: Int64(time.tv_sec),
      attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000
    )
  }
}
