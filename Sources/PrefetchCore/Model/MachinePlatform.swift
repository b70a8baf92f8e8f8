package struct MachinePlatform: Hashable, Sendable {
  package enum Library: Hashable, Sendable {
    case glibc(major: Int, minor: Int)
    case musl(major: Int, minor: Int)
  }

  /// Node.js's name of the system: `linux`.
  package var system: String
  /// `uname`'s name of the machine: `x86_64`, `aarch64`.
  package var machine: String
  /// C library; nil if unknown, which any package fits.
  package var library: Library?

  package init(system: String, machine: String, library: Library? = nil) {
    self.system = system
    self.machine = machine
    self.library = library
  }
}
