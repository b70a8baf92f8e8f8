internal import Glibc

package enum StandardStreams {
  /// Fills closed descriptors, so that no opened file becomes standard output.
  package static func fill() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
      // The kernel assigns the lowest free number, which is this one.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }
}
