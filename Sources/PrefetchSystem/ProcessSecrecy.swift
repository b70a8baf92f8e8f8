internal import CLinux
@unsafe @preconcurrency internal import Glibc

package enum ProcessSecrecy {
  /// Hides memory from core files, debuggers and `/proc` of the same user.
  package static func hideMemory() {
    _ = prefetch_hide_memory()
  }

  /// Removes variables and overwrites their values, which `/proc/PID/environ` would show.
  package static func withdraw(_ names: some Sequence<String>) {
    for name in names {
      if let value = unsafe getenv(name) { unsafe memset(value, 0, strlen(value)) }
      unsafe unsetenv(name)
    }
  }
}
