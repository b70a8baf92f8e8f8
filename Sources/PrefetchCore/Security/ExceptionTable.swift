/// Exceptions of transport security by name, address and address range.
package struct ExceptionTable: Hashable, Sendable {
  package typealias Exception = TransportSecurity.Exception

  private var names: [String: Exception] = [:]
  private var ranges: [Range] = []

  private struct Range: Hashable, Sendable {
    var range: AddressRange
    var name: String
    var exception: Exception
  }

  package init(_ exceptions: [String: Exception] = [:]) {
    for (key, exception) in exceptions.sorted(by: { $0.key < $1.key }) { self[key] = exception }
  }

  /// Security exception of a name, address or range, spelled as in ``AddressRange`` or ``WebURL``.
  package subscript(key: String) -> Exception? {
    get {
      names[key] ?? ranges.first { $0.name == key }?.exception
    }
    set {
      guard let range = AddressRange(key) else {
        names[key] = newValue
        return
      }
      ranges.removeAll { $0.range == range }
      guard let newValue else { return }
      let index = ranges.firstIndex { $0.range.length < range.length } ?? ranges.endIndex
      ranges.insert(Range(range: range, name: key, exception: newValue), at: index)
    }
  }

  package var isEmpty: Bool {
    names.isEmpty && ranges.isEmpty
  }

  package var all: [(name: String, exception: Exception)] {
    names.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      + ranges.map { ($0.name, $0.exception) }
  }

  func listsExactly(host: String) -> Bool {
    if isEmpty { return false }
    guard let address = IPAddress(host: host) else { return names[host] != nil }
    return ranges.contains { $0.range.contains(address) }
  }

  /// Returns the entry for a host, expired or not.
  ///
  /// A name's own entry or the nearest parent's with `includesSubdomains`; an address's narrowest
  /// range. Names with a final dot have no exceptions.
  package func entry(for host: String) -> (name: String, exception: Exception)? {
    if isEmpty { return nil }
    if let address = IPAddress(host: host) {
      return ranges.first { $0.range.contains(address) }.map { ($0.name, $0.exception) }
    }
    if let exact = names[host] { return (host, exact) }
    guard !host.hasSuffix(".") else { return nil }
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      if let parent = names[String(rest)], parent.includesSubdomains {
        return (String(rest), parent)
      }
    }
    return nil
  }
}

extension ExceptionTable: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, Exception)...) {
    self.init(Dictionary(elements) { first, _ in first })
  }
}
