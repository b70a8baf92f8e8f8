internal import CLinux
@unsafe @preconcurrency internal import Glibc

/// What keeps a secret of this process from others on the machine.
package enum ProcessSecrecy {
  /// No core file, no debugger and no `/proc` entry of another process of the user shows its memory.
  package static func hideMemory() {
    _ = prefetch_hide_memory()
  }

  /// Takes variables out of the environment, so that no child inherits them and `/proc/PID/environ`
  /// shows their names alone.
  package static func withdraw(_ names: some Sequence<String>) {
    for name in names {
      if let value = unsafe getenv(name) { unsafe memset(value, 0, strlen(value)) }
      unsafe unsetenv(name)
    }
  }
}
