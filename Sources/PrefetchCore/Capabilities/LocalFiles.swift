/// Reader of files that the configuration names.
package protocol LocalFiles: AnyObject {
  /// Passes a file's bytes to `read`; they are valid only during the call.
  func withBytes<Value>(
    of path: String,
    limit: Int64,
    _ read: (RawSpan) -> Value
  ) throws(Failure) -> Value
}
