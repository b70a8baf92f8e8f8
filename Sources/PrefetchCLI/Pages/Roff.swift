/// Builds a page in man(7) from text with literals in backticks and `asPlaceholder` marks.
struct Roff {
  private var lines: [String]

  init(name: String, section: Int, manual: String, date: String) {
    lines = [".TH \(name.uppercased()) \(section) \(date) prefetch \"\(manual)\""]
  }

  var text: String {
    lines.joined(separator: "\n") + "\n"
  }

  mutating func section(_ title: String) {
    lines.append(".SH \(Self.argument(title))")
  }

  mutating func subsection(_ title: String) {
    lines.append(".SS \(Self.argument(title))")
  }

  mutating func paragraph(_ text: String) {
    let isFirst = lines.last.map { $0.hasPrefix(".SH") || $0.hasPrefix(".SS") } ?? false
    if !isFirst { lines.append(".PP") }
    append(text)
  }

  mutating func line(_ text: String) {
    append(text)
  }

  mutating func entry(_ term: String, _ text: String) {
    lines.append(".TP")
    lines.append(Self.guarded(Self.inline(term)))
    append(text)
  }

  mutating func literal(_ text: String) {
    lines += [".PP", ".RS 4", ".nf"]
    lines += text.split(separator: "\n", omittingEmptySubsequences: false).map {
      Self.guarded("\\fB" + Self.escaped($0, isLiteral: true) + "\\fR")
    }
    lines += [".fi", ".RE"]
  }

  private mutating func append(_ text: String) {
    var line = ""
    for word in Self.inline(text).split(separator: " ") {
      if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > 78 {
        lines.append(Self.guarded(line))
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    if !line.isEmpty { lines.append(Self.guarded(line)) }
  }

  private static func inline(_ text: String) -> String {
    var output = ""
    var isLiteral = false
    var isPlaceholder = false
    for character in text {
      if character == "`" {
        output += isLiteral ? "\\fR" : "\\fB"
        isLiteral.toggle()
      } else if character == "\u{1}" {
        output += isPlaceholder ? "\\fR" : "\\fI"
        isPlaceholder.toggle()
      } else {
        output += escaped(String(character), isLiteral: isLiteral)
      }
    }
    return output
  }

  private static func escaped(_ text: some StringProtocol, isLiteral: Bool) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": output += "\\e"
      case "-" where isLiteral: output += "\\-"
      case "'" where isLiteral: output += "\\(aq"
      case "\"" where isLiteral: output += "\\(dq"
      case "`": output += "\\(ga"
      case "^": output += "\\(ha"
      case "~": output += "\\(ti"
      case _ where scalar.isASCII: output.unicodeScalars.append(scalar)
      default:
        let hexadecimal = String(scalar.value, radix: 16, uppercase: true)
        output +=
          "\\[u" + String(repeating: "0", count: max(0, 4 - hexadecimal.count)) + hexadecimal + "]"
      }
    }
    return output
  }

  private static func argument(_ text: String) -> String {
    let inner = inline(text)
    return inner.contains(" ") ? "\"\(inner)\"" : inner
  }

  /// Keeps a line of text from being read as a request.
  private static func guarded(_ line: String) -> String {
    line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
  }
}

extension String {
  var asPlaceholder: String {
    "\u{1}\(self)\u{1}"
  }
}
