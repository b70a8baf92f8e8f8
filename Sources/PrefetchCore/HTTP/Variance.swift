/// Whether a stored answer is the one that the present request would have got.
package enum Variance {
  /// Text that changes when a request changes in what the answer depends on; nil if on nothing.
  ///
  /// A `Vary` of `*` depends on everything we send. Secrets count by their presence alone: they are
  /// not written anywhere, and a renewed token selects the same content. The coding does not count,
  /// since bodies are stored decoded.
  package static func key(_ response: HeaderBlock, request: [HeaderField]) -> String? {
    guard let vary = response.combined("Vary") else { return nil }
    var names = Set(
      vary.split(separator: ",").map { part in
        String(part.filter { $0 != " " && $0 != "\t" }).lowercased()
      }
    )
    if names.contains("*") { names.formUnion(request.map { $0.name.lowercased() }) }
    names.subtract(["", "accept-encoding"])
    guard !names.isEmpty else { return nil }
    return names.sorted().map { "\($0):\(value(of: $0, in: request))" }.joined(separator: "\n")
  }

  /// Whether an answer stored under `key` may be used, or asked about, for this request.
  package static func selects(
    _ stored: HeaderBlock,
    key: String?,
    request: [HeaderField]
  ) -> Bool {
    Self.key(stored, request: request) == key
  }

  private static func value(of name: String, in request: [HeaderField]) -> String {
    let values = HeaderBlock(request).all(name)
    guard RequestHeader.isHarmless(name) else { return values.isEmpty ? "" : "set" }
    return values.map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: ",")
  }
}
