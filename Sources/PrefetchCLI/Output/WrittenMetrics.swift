/// Samples of a textfile that an earlier run wrote.
struct WrittenMetrics {
  private struct Sample {
    var name: String
    /// Label in the file's escaped form.
    var configuration: String
    var line: String
    var value: String
  }

  private var samples: [Sample] = []

  init(_ text: String = "") {
    samples = text.unicodeScalars.split(separator: "\n").compactMap { Self.sample(String($0)) }
  }

  /// Configuration of the file, escaped; nil if unknown.
  var configuration: String? {
    samples.first?.configuration
  }

  func lines(of name: String, configuration: String) -> [String] {
    of(name, configuration).map(\.line)
  }

  func value(of name: String, configuration: String) -> String? {
    of(name, configuration).first?.value
  }

  private func of(_ name: String, _ configuration: String) -> [Sample] {
    samples.filter { $0.name == name && $0.configuration == configuration }
  }

  /// Parses a line of this program, by scalar: for collectors a quote with a mark is a quote.
  private static func sample(_ line: String) -> Sample? {
    let scalars = line.unicodeScalars
    let opening = "{configuration=\"".unicodeScalars
    guard scalars.starts(with: "prefetch_".unicodeScalars),
      let brace = scalars.firstIndex(of: "{"), scalars[brace...].starts(with: opening),
      let blank = scalars.lastIndex(of: " "), scalars[..<blank].last == "}"
    else { return nil }
    let value = String(scalars[scalars.index(after: blank)...])
    let label = scalars[brace...].dropFirst(opening.count)
    guard let end = end(of: label), end < blank, Double(value) != nil else { return nil }
    return Sample(
      name: String(scalars[..<brace]),
      configuration: String(label[..<end]),
      line: line,
      value: value
    )
  }

  private static func end(of label: Substring.UnicodeScalarView) -> String.Index? {
    var isEscaped = false
    for index in label.indices {
      if isEscaped {
        isEscaped = false
      } else if label[index] == "\\" {
        isEscaped = true
      } else if label[index] == "\"" {
        return index
      }
    }
    return nil
  }
}
