/// Escapes foreign text for renderings, by scalar: for parsers a quote with a mark is a quote.
enum MarkupText {
  /// Escapes text for XML and HTML, attributes included.
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

  static func markdownCode(_ text: String) -> String {
    mapped(text) { $0 == "`" ? "'" : nil }
  }

  /// Escapes a label's value for Prometheus, whose text format has three escapes.
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
