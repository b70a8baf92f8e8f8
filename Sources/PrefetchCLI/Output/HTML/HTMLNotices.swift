import PrefetchCore

struct HTMLNotices {
  let envelope: ReportEnvelope

  private static let mostNotices = 50

  private var diagnostics: [Diagnostic] { envelope.notices + envelope.report.diagnostics }

  var isEmpty: Bool { diagnostics.isEmpty }

  var lines: [String] {
    let rest = diagnostics.count - Self.mostNotices
    return ["<ul class=\"groups\">"] + diagnostics.prefix(Self.mostNotices).map(item) + ["</ul>"]
      + (rest > 0
        ? ["<p class=\"quiet\">And \(rest) more; <code>--report json=FILE</code> has all.</p>"]
        : [])
  }

  private func item(_ diagnostic: Diagnostic) -> String {
    let text = HTMLText(envelope: envelope)
    let tone = diagnostic.severity == .error ? "bad" : "caution"
    let hint = diagnostic.hint.map { "<p class=\"quiet\">\(text.message($0))</p>" } ?? ""
    return """
      <li class="\(tone)"><p>\(text.message(diagnostic.message)) \
      <code>\(text.escaped(diagnostic.code.description))</code></p>\(hint)</li>
      """
  }
}
