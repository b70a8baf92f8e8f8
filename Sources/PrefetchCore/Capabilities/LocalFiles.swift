/// Reads files that the configuration names.
package protocol LocalFiles: AnyObject {
  /// The bytes of a file for the length of a call.
  func withBytes<Value>(
    of path: String,
    limit: Int64,
    _ read: (RawSpan) -> Value
  ) throws(Failure) -> Value
}
