import PrefetchCore

struct HTMLFailures {
  let envelope: ReportEnvelope
  private let groups: [[ReportFailures.Trouble]]

  private static let mostGroups = 50
  private static let mostNamed = 10

  init(envelope: ReportEnvelope) {
    self.envelope = envelope
    groups = Self.groups(ReportFailures(envelope: envelope).all)
  }

  private var text: HTMLText { HTMLText(envelope: envelope) }

  var isEmpty: Bool {
    groups.isEmpty && envelope.report.storeFailure == nil && envelope.report.registration == nil
  }

  var lines: [String] {
    var lines = ["<ul class=\"groups\">"]
    if let failure = envelope.report.storeFailure { lines.append(item("the store", failure)) }
    if let failure = envelope.report.registration { lines.append(item("the license", failure)) }
    lines += groups.prefix(Self.mostGroups).flatMap { markup(of: $0) }
    lines.append("</ul>")
    let rest = groups.dropFirst(Self.mostGroups).reduce(0) { $0 + $1.count }
    if rest > 0 {
      let others = Amounts.count(Int64(rest), "other")
      lines.append("<p class=\"quiet\">And \(others); see <code>prefetch log</code>.</p>")
    }
    if let next = FailureLines(envelope: envelope, showsAll: false).nextStep {
      lines.append("<p>\(text.prose(next)).</p>")
    }
    return lines
  }

  private static func groups(_ failures: [ReportFailures.Trouble]) -> [[ReportFailures.Trouble]] {
    var groups: [[ReportFailures.Trouble]] = []
    var indices: [[String]: Int] = [:]
    for failure in failures {
      let key = failure.isNoRoute ? [] : [failure.host ?? failure.subject, failure.code]
      let index = indices[key] ?? groups.count
      if index == groups.count {
        indices[key] = index
        groups.append([])
      }
      groups[index].append(failure)
    }
    return groups.enumerated().sorted { a, b in
      (b.element.count, a.offset) < (a.element.count, b.offset)
    }.map(\.element)
  }

  private func markup(of group: [ReportFailures.Trouble]) -> [String] {
    let first = group[0]
    let tone = envelope.isAccepted || !group.contains(where: \.isRequired) ? "caution" : "bad"
    let head =
      "<li class=\"\(tone)\"><p><strong>\(heading(group))</strong> <code>\(first.code)</code></p>"
    let message = "<p>\(text.message(first.message))\(remarks(group))</p>"
    guard group.count > 1 else { return [head + message + "</li>"] }
    let named = group.prefix(Self.mostNamed).map { entry in
      let differs = entry.message != first.message
      return "<li><code>\(text.breakable(entry.subject))</code>"
        + (differs ? ": \(text.message(entry.message))" : "") + "</li>"
    }
    let rest = group.count - named.count
    let summary = rest > 0 ? "The first \(named.count) of \(group.count)" : "All \(group.count)"
    return [head + message, "<details><summary>\(summary)</summary><ul>"] + named
      + ["</ul></details></li>"]
  }

  private func heading(_ group: [ReportFailures.Trouble]) -> String {
    guard group.count > 1 else { return text.breakable(group[0].subject) }
    let count = Amounts.count(Int64(group.count), "item or manifest", "items and manifests")
    if group[0].isNoRoute { return count }
    let items = Amounts.count(Int64(group.count), "item")
    return "\(text.breakable(group[0].host ?? group[0].subject)): \(items)"
  }

  private func remarks(_ group: [ReportFailures.Trouble]) -> String {
    let attempts = group.map(\.attempts).max() ?? 0
    let copies = group.count(where: \.keepsOlderCopy)
    let tries = attempts > 1 ? ", after \(group.count > 1 ? "up to " : "")\(attempts) attempts" : ""
    return tries
      + (copies > 0
        ? "; \(Amounts.count(Int64(copies), "older copy", "older copies")) kept" : "")
  }

  private func item(_ subject: String, _ failure: Failure) -> String {
    """
    <li class="bad"><p><strong>\(subject)</strong> <code>\(failure.code.rawValue)</code></p>\
    <p>\(text.message(failure.message))</p></li>
    """
  }
}
