internal import CCurl
internal import PrefetchCore

/// Request headers as the linked list that libcurl reads while a transfer runs.
@safe struct HeaderList: ~Copyable {
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  init() {
    unsafe first = nil
  }

  deinit {
    unsafe curl_slist_free_all(first)
  }

  /// Sends a field as it is; an empty value is a value.
  mutating func add(_ field: HeaderField) throws(Failure) {
    try append(
      field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)",
      of: field.name
    )
  }

  /// Keeps libcurl from sending a field of its own.
  mutating func suppress(_ name: String) throws(Failure) {
    try append("\(name):", of: name)
  }

  private mutating func append(_ line: String, of name: String) throws(Failure) {
    // A line end here would let whoever wrote the value write further headers.
    guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw Failure(.failed, "the request header `\(name)` holds a control character; remove it")
    }
    guard let extended = unsafe curl_slist_append(first, line) else {
      throw Failure(.internal, "no memory for the request headers")
    }
    unsafe first = extended
  }
}
