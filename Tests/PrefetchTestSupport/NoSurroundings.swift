package import PrefetchCore

/// A file system in which no file can be read.
package final class NoFiles: LocalFiles {
  package init() {}

  package func withBytes<Value>(
    of path: String,
    limit: Int64,
    _ read: (RawSpan) -> Value
  ) throws(Failure) -> Value {
    throw Failure(.permission, "`\(path)` cannot be read")
  }
}

/// A stop signal that never arrives.
package final class NoSignal: StopSignal {
  package init() {}

  package var pending: Int32? { nil }
}
