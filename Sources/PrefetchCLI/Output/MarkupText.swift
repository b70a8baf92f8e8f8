/// Text of strangers inside the languages of the renderings, where nothing of it may act.
///
/// Scalars are looked at, not characters: a quote with a combining mark is a quote to a parser.
enum MarkupText {
  /// Inside XML and HTML, attributes included.
  static func escaped(_ text: String) -> String {
    mapped(text) { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&#39;"
      default: nil
      }
    }
  }

  /// Inside a paragraph, list or table cell of Markdown.
  static func markdown(_ text: String) -> String {
    mapped(text) { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\\", "`", "*", "_", "[", "]", "!", "|", "~", "#": "\\\(scalar)"
      default: nil
      }
    }
  }

  /// Inside a code span of Markdown that one backtick opens.
  static func markdownCode(_ text: String) -> String {
    mapped(text) { $0 == "`" ? "'" : nil }
  }

  /// A label's value in the text format of Prometheus, which knows three escapes and no other.
  static func label(_ text: String) -> String {
    mapped(text) { scalar in
      switch scalar {
      case "\\": "\\\\"
      case "\"": "\\\""
      default: nil
      }
    }
  }

  private static func mapped(
    _ text: String,
    _ replacement: (Unicode.Scalar) -> String?
  ) -> String {
    var safe = ""
    for scalar in SafeText.line(text).unicodeScalars {
      if let replacement = replacement(scalar) {
        safe += replacement
      } else {
        safe.unicodeScalars.append(scalar)
      }
    }
    return safe
  }
}
