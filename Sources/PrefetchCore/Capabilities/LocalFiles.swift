/// Reads files that the configuration names.
package protocol LocalFiles: AnyObject {
  func read(_ path: String, limit: Int64) throws(Failure) -> [UInt8]
}
