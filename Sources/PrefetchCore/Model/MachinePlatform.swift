/// What packages have to be made for to run on a machine.
package struct MachinePlatform: Hashable, Sendable {
  package enum Library: Hashable, Sendable {
    case glibc(major: Int, minor: Int)
    case musl(major: Int, minor: Int)
  }

  /// As Node.js names it: `linux`.
  package var system: String
  /// As `uname` names it: `x86_64`, `aarch64`.
  package var machine: String
  /// Nil where it is not known; then any will do.
  package var library: Library?

  package init(system: String, machine: String, library: Library? = nil) {
    self.system = system
    self.machine = machine
    self.library = library
  }
}
