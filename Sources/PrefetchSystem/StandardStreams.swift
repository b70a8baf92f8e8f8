internal import Glibc

/// The three descriptors that every program expects to have.
package enum StandardStreams {
  /// Puts `/dev/null` in the place of each one that is closed.
  ///
  /// Otherwise the next file that is opened, a database perhaps, would become standard output.
  package static func fill() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is taken, which is this one.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }
}
