import PrefetchCore
import PrefetchDocuments

/// Parses key paths: dots between keys, quotes around keys with dots, `[0]` for elements.
enum OverridePath {
  static func parse(_ text: String) throws(Diagnostic) -> [ValuePath.Step] {
    var steps: [ValuePath.Step] = []
    var rest = text[...]
    while !rest.isEmpty {
      if rest.hasPrefix("[") {
        guard let close = rest.firstIndex(of: "]") else { throw malformed(text) }
        let inner = rest[rest.index(after: rest.startIndex)..<close]
        rest = rest[rest.index(after: close)...]
        if inner.hasPrefix("\""), inner.hasSuffix("\""), inner.count > 2 {
          steps.append(.key(String(inner.dropFirst().dropLast())))
        } else if let index = Int(inner), index >= 0 {
          steps.append(.index(index))
        } else {
          throw malformed(text)
        }
        if rest.hasPrefix(".") { rest = rest.dropFirst() }
        continue
      }
      let key = rest.prefix { $0 != "." && $0 != "[" }
      guard !key.isEmpty else { throw malformed(text) }
      steps.append(.key(String(key)))
      rest = rest.dropFirst(key.count)
      if rest.hasPrefix(".") {
        rest = rest.dropFirst()
        if rest.isEmpty { throw malformed(text) }
      }
    }
    guard !steps.isEmpty else { throw malformed(text) }
    return steps
  }

  private static func malformed(_ text: String) -> Diagnostic {
    Diagnostic(
      Override.usageCode,
      "`\(text)` is not a key path",
      hint: "write for instance `cache.size` or `segments.NAME.ttl`",
      file: "\(Override.setPrefix)\(text)"
    )
  }
}
