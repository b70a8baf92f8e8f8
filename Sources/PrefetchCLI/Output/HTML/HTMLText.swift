import PrefetchCore

/// Text of the HTML report: foreign text is masked and inert.
struct HTMLText {
  let envelope: ReportEnvelope

  /// Longest text on the page; the other reports have it whole.
  private static let mostScalars = 300

  func escaped(_ text: String) -> String {
    MarkupText.escaped(Self.shortened(envelope.redacted(text)))
  }

  func masked(_ text: String) -> String {
    MarkupText.escaped(Self.shortened(text))
  }

  func url(_ text: String) -> String {
    breakable(envelope.redacted(url: text))
  }

  /// Escapes masked text, with line breaks allowed after slashes.
  func breakable(_ text: String) -> String {
    masked(text).replacing("/", with: "/<wbr>").replacing("/<wbr>/<wbr>", with: "//")
  }

  /// Escapes a message; backticks become quotes, since their content may be foreign.
  func message(_ text: String) -> String {
    escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { index, part in
        guard index > 0 else { return String(part) }
        return index.isMultiple(of: 2) ? "”\(part)" : "“\(part)"
      }
      .joined()
  }

  /// Escapes our own text as a sentence; backticks become code.
  func prose(_ text: String) -> String {
    escaped(text.prefix(1).uppercased() + text.dropFirst()).split(
      separator: "`",
      omittingEmptySubsequences: false
    ).enumerated()
      .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "<code>\($0.element)</code>" }
      .joined()
  }

  private static func shortened(_ text: String) -> String {
    guard text.utf8.count > mostScalars, text.unicodeScalars.count > mostScalars else {
      return text
    }
    return String(text.unicodeScalars.prefix(mostScalars)) + "…"
  }

  // MARK: Numbers

  /// Returns for example `1234`, `12 345`, `1 234 567`, unbreakable.
  static func count(_ number: Int64) -> String {
    guard number >= 10_000 else { return String(number) }
    var (groups, rest) = ("", number)
    while rest >= 1000 {
      groups = "\u{202F}\(String(1000 + rest % 1000).dropFirst())\(groups)"
      rest /= 1000
    }
    return "\(rest)\(groups)"
  }

  /// Returns for example `0.4 ms`, `12 ms`, `1.25 s`, and longer ones as in ``Amounts``.
  static func span(_ duration: Duration) -> String {
    let microseconds = max(0, duration.microseconds)
    switch microseconds {
    case 0: return "0 ms"
    case ..<9950: return "\(decimal(Double(microseconds) / 1000, decimals: 1)) ms"
    case ..<999_500: return "\(Int((Double(microseconds) / 1000).rounded())) ms"
    case ..<10_000_000: return "\(decimal(Double(microseconds) / 1_000_000, decimals: 2)) s"
    default: return Amounts.duration(duration)
    }
  }

  static func decimal(_ value: Double, decimals: Int) -> String {
    let scale = decimals == 1 ? 10 : 100
    let whole = Int((value * Double(scale)).rounded())
    var digits = String(whole % scale)
    digits = String(repeating: "0", count: max(0, decimals - digits.count)) + digits
    while digits.last == "0" { digits.removeLast() }
    return digits.isEmpty ? "\(whole / scale)" : "\(whole / scale).\(digits)"
  }

  static func time(_ instant: Instant) -> String {
    let text = Timestamp.format(Instant(seconds: instant.seconds))
    return
      "<time datetime=\"\(text)\">\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC</time>"
  }

  static func tone(_ status: ExitStatus, isAccepted: Bool = false) -> String {
    switch status {
    case .ok, .changes: return "good"
    case .deferred, .unavailable, .notOurs, .interrupted, .terminated: return "caution"
    case .failed, .incomplete, .nothing, .trust, .usage, .io, .denied, .config:
      return isAccepted ? "caution" : "bad"
    }
  }
}
