/// Pattern of URLs: `*` matches within a path part, `**` anything.
///
/// With a scheme, its host part matches only hosts, never part of a path.
package struct URLPattern: Hashable, Sendable {
  package let text: String
  /// Components; nil without `://`, in which case the whole URL is matched.
  private let parts: Parts?
  private let whole: [Token]

  private struct Parts: Hashable, Sendable {
    var scheme: [Token]
    var authority: [Token]
    var target: [Token]
  }

  private enum Token: Hashable, Sendable {
    case byte(UInt8)
    case part
    case anything
  }

  package init(_ text: String) {
    self.text = text
    whole = Self.tokens(text)
    guard let separator = text.firstRange(of: "://") else {
      parts = nil
      return
    }
    let rest = text[separator.upperBound...]
    let end = rest.firstIndex { "/?".contains($0) } ?? rest.endIndex
    let target = rest[end...]
    parts = Parts(
      scheme: Self.tokens(text[..<separator.lowerBound].lowercased()),
      authority: Self.tokens(Self.ascii(rest[..<end])),
      target: Self.tokens(target.isEmpty ? "/" : String(target))
    )
  }

  private static func ascii(_ authority: Substring) -> String {
    authority.split(separator: ".", omittingEmptySubsequences: false)
      .map { InternationalName.ascii($0) ?? $0.lowercased() }
      .joined(separator: ".")
  }

  package func matches(_ url: WebURL) -> Bool {
    guard let parts else { return Self.matches(whole[...], Array(url.string.utf8)[...]) }
    let target = url.query.map { "\(url.path)?\($0)" } ?? url.path
    return Self.matches(parts.scheme[...], Array(url.scheme.rawValue.utf8)[...])
      && Self.matches(parts.authority[...], Array(url.authority.utf8)[...])
      && Self.matches(parts.target[...], Array(target.utf8)[...])
  }

  package var host: String? {
    guard let authority = parts?.authority else { return nil }
    var bytes: [UInt8] = []
    for token in authority {
      guard case .byte(let byte) = token else { return nil }
      bytes.append(byte)
    }
    return try? WebURL("https://\(String(decoding: bytes, as: UTF8.self))/").host
  }

  /// Whether the pattern limits its hosts by name or domain, so that they may get its secrets.
  package var namesItsHosts: Bool {
    guard let authority = parts?.authority else { return false }
    let tail = authority.reversed().prefix { token in
      if case .byte = token { true } else { false }
    }
    guard tail.count < authority.count else { return true }
    // `*.example` alone would cover a whole top-level domain.
    let bounds = tail.split(separator: .byte(UInt8(ascii: ".")), omittingEmptySubsequences: true)
    return tail.last == .byte(UInt8(ascii: ".")) && bounds.count >= 2
  }

  private static func tokens(_ text: some StringProtocol) -> [Token] {
    var tokens: [Token] = []
    for byte in text.utf8 {
      guard byte == UInt8(ascii: "*") else {
        tokens.append(.byte(byte))
        continue
      }
      switch tokens.last {
      case .part: tokens[tokens.count - 1] = .anything
      case .anything: break
      case .byte, nil: tokens.append(.part)
      }
    }
    return tokens
  }

  /// Matches with backtracking to the last `*`, then to the last `**`.
  private static func matches(_ pattern: ArraySlice<Token>, _ text: ArraySlice<UInt8>) -> Bool {
    var (token, index) = (pattern.startIndex, text.startIndex)
    var part: (token: Int, index: Int)?
    var anything: (token: Int, index: Int)?
    while true {
      if token < pattern.endIndex {
        switch pattern[token] {
        case .anything:
          (anything, part) = ((token, index), nil)
          token += 1
          continue
        case .part:
          part = (token, index)
          token += 1
          continue
        case .byte(let byte):
          if index < text.endIndex, text[index] == byte {
            (token, index) = (token + 1, index + 1)
            continue
          }
        }
      } else if index == text.endIndex {
        return true
      }
      if let last = part, last.index < text.endIndex, text[last.index] != UInt8(ascii: "/") {
        part = (last.token, last.index + 1)
        (token, index) = (last.token + 1, last.index + 1)
      } else if let last = anything, last.index < text.endIndex {
        (anything, part) = ((last.token, last.index + 1), nil)
        (token, index) = (last.token + 1, last.index + 1)
      } else {
        return false
      }
    }
  }
}
