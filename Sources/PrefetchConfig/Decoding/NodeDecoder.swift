package import PrefetchCore
import PrefetchDocuments

/// State of decoding: the current path, diagnostics and secrets.
package struct NodeDecoder: Sendable {
  private(set) var diagnostics: [Diagnostic] = []
  /// Notes about valid values that may be mistakes, shown on request.
  private(set) var lints: [Diagnostic] = []
  private(set) var path = ValuePath()
  private var pathTexts: [String] = []
  private(set) var origins: [String: ValueOrigin] = [:]
  /// Paths whose values contain secrets and are masked in the canonical form.
  private(set) var maskedPaths: Set<ValuePath> = []
  private(set) var secrets: Set<String> = []
  /// References by the secrets that they insert.
  private(set) var placeholders: [String: String] = [:]
  /// Beginnings of URLs behind which a value is secret and unknown; `://` hides all URLs.
  private(set) var hiddenURLs: Set<String> = []
  private(set) var literalSecrets: [String: (node: Node, path: String)] = [:]
  var baseURL: WebURL?

  private static let shortestSecret = 6
  private var filledBytes = 0
  private static let maximumFilledBytes = 64 << 20

  let interpolator: Interpolator
  let resolver: PathResolver
  /// Sources written for another program, for which some rules only warn.
  let lenientSources: Set<String>
  private var isInSecret = false

  init(interpolator: Interpolator, resolver: PathResolver, lenientSources: Set<String> = []) {
    self.interpolator = interpolator
    self.resolver = resolver
    self.lenientSources = lenientSources
  }

  mutating func descend(
    _ step: ValuePath.Step,
    isSecret: Bool = false,
    _ body: (inout NodeDecoder) -> Void
  ) {
    let wasInSecret = isInSecret
    path.steps.append(step)
    pathTexts.append(ValuePath.text(of: step, below: pathTexts.last ?? ""))
    isInSecret = isInSecret || isSecret
    body(&self)
    isInSecret = wasInSecret
    pathTexts.removeLast()
    path.steps.removeLast()
  }

  /// Records where a value came from; mappings are skipped, since their keys may differ in origin.
  mutating func recordOrigin(of node: Node, shape: Shape) {
    switch shape {
    case .object, .map: return
    case .scalar, .list, .anything:
      origins[pathTexts.last ?? ""] = ValueOrigin(source: node.source, location: node.location)
    }
  }

  /// Records a secret; very short ones are not hidden, since masking `none` would ruin reports.
  mutating func recordSecret(_ text: String, literallyAt node: Node? = nil) {
    if text.count >= Self.shortestSecret { secrets.insert(text) }
    guard let node, node.scalar?.text.contains("${") == false else { return }
    if literalSecrets[node.source] == nil {
      literalSecrets[node.source] = (node, path.description)
    }
  }

  /// Hides the URLs that an unknown secret is part of, as caches and states of earlier runs name them.
  private mutating func hideURLs(behind gap: Interpolator.Gap) {
    if Interpolator.reachesPath(gap.textBefore) {
      hiddenURLs.insert(gap.textBefore)
    } else if isInAddress, !gap.isVariable || !gap.textBefore.isEmpty,
      !gap.textBefore.contains("://")
    {
      hiddenURLs.insert("://")
    }
  }

  /// Whether the value is a URL or a part of one.
  private var isInAddress: Bool {
    for case .key(let key) in path.steps.reversed() { return Self.addressKeys.contains(key) }
    return false
  }

  private static let addressKeys: Set<String> = [
    "alternates", "base", "manifest", "manifests", "url", "urls",
  ]

  func isLenient(_ node: Node) -> Bool {
    lenientSources.contains(node.source)
  }
}

package struct ValueOrigin: Hashable, Sendable {
  package var source: String
  package var location: SourceLocation?
}

extension ValueOrigin: CustomStringConvertible {
  package var description: String {
    guard let location else { return source }
    return "\(location.file):\(location.line)"
  }
}

// MARK: - Reading text

extension NodeDecoder {
  /// Returns a scalar's text with references resolved; nil after a report or for a placeholder.
  mutating func text(of node: Node, expecting expectation: String) -> String? {
    guard case .scalar(let scalar) = node.content, scalar.kind != .null else {
      reportWrongType(of: node, expected: expectation)
      return nil
    }
    guard scalar.text.utf8.contains(UInt8(ascii: "$")) else { return scalar.text }
    guard filledBytes <= Self.maximumFilledBytes else { return nil }
    let isInHeaders = path.steps.contains(.key("headers"))
    let result = interpolator.resolve(scalar.text, in: node.source, allowsLicense: isInHeaders)
    for problem in result.problems {
      report(problem.code ?? "config.bad-variable", problem.message, hint: problem.hint, at: node)
    }
    filledBytes += result.text.utf8.count
    if filledBytes > Self.maximumFilledBytes {
      let most = Self.maximumFilledBytes >> 20
      report("config.bad-variable", "variables make more than \(most) MiB of text in all", at: node)
      return nil
    }
    for secret in result.secrets {
      recordSecret(secret)
    }
    for (secret, reference) in result.placeholders where secret.count >= Self.shortestSecret {
      placeholders[secret] = min(placeholders[secret] ?? reference, reference)
    }
    if !result.secrets.isEmpty { maskedPaths.insert(path) }
    if let gap = result.gap { hideURLs(behind: gap) }
    guard result.problems.isEmpty, !result.isPlaceholder else { return nil }
    return result.text
  }

  mutating func checkedKey(_ entry: Node.Entry, by rule: KeyRule) -> String? {
    do throws(ValueComplaint) {
      return try rule.parse(entry.key)
    } catch {
      // The SDKs' guides spell hosts in capitals, which their platform accepts.
      let small = entry.key.lowercased()
      if isLenient(entry.value), small != entry.key, let name = try? rule.parse(small) {
        report(
          "config.capital-host",
          "`\(entry.key)` is read as `\(name)`",
          severity: .warning,
          hint: "host names have no capitals; elsewhere they are an error",
          atKeyOf: entry
        )
        return name
      }
      report(error.code ?? "config.bad-value", error.message, hint: error.hint, atKeyOf: entry)
      return nil
    }
  }
}

// MARK: - Reporting

extension NodeDecoder {
  mutating func report(
    _ code: Diagnostic.Code,
    _ message: String,
    severity: Diagnostic.Severity = .error,
    hint: String? = nil,
    at node: Node
  ) {
    diagnostics.append(diagnostic(code, message, severity: severity, hint: hint, at: node))
  }

  mutating func lint(
    _ code: Diagnostic.Code,
    _ message: String,
    hint: String? = nil,
    at node: Node
  ) {
    lints.append(diagnostic(code, message, severity: .warning, hint: hint, at: node))
  }

  private func diagnostic(
    _ code: Diagnostic.Code,
    _ message: String,
    severity: Diagnostic.Severity,
    hint: String?,
    at node: Node
  ) -> Diagnostic {
    var diagnostic = Diagnostic(
      code,
      message,
      severity: severity,
      hint: hint,
      path: path.steps.isEmpty ? nil : path.description,
      file: node.source,
      at: node.location
    )
    diagnostic.hidesSource = isInSecret
    return diagnostic
  }

  mutating func report(
    _ code: Diagnostic.Code,
    _ message: String,
    severity: Diagnostic.Severity = .error,
    hint: String? = nil,
    atKeyOf entry: Node.Entry
  ) {
    var keyNode = entry.value
    keyNode.location = entry.keyLocation ?? keyNode.location
    report(code, message, severity: severity, hint: hint, at: keyNode)
  }

  mutating func report(_ complaint: ValueComplaint, code: Diagnostic.Code, at node: Node) {
    let cameFromSecret = maskedPaths.contains(path)
    let mayQuote = !isInSecret && !cameFromSecret
    let code = complaint.code ?? code
    let suffix = code == "config.unknown-value" ? " for `\(lastKey)`" : ""
    report(
      code,
      mayQuote ? complaint.message + suffix : "the value of `\(lastKey)` is not valid",
      hint: mayQuote ? complaint.hint : nil,
      at: node
    )
    if complaint.isSecret { diagnostics[diagnostics.count - 1].hidesSource = true }
  }

  mutating func reportWrongType(of node: Node, expected: String, hint: String? = nil) {
    let subject = lastKey.isEmpty ? "" : "`\(lastKey)`: "
    report(
      "config.wrong-type",
      "\(subject)expected \(expected), found \(node.kindName)",
      hint: hint,
      at: node
    )
  }

  mutating func reportUnknownKey(_ entry: Node.Entry, known: ObjectShape) {
    let names = known.keys.flatMap { key in
      [key.name] + key.synonyms.filter { !$0.isOutdated }.map(\.name)
    }
    let nearest = Suggestion.nearest(to: KeySpelling.normalised(entry.key), among: names)
    let context = path.steps.isEmpty ? "" : " in `\(path)`"
    report(
      "config.unknown-key",
      "unknown key `\(entry.key)`\(context)",
      hint: hint(for: entry.key, nearest: nearest),
      atKeyOf: entry
    )
    // A misspelled `license` still has a secret value.
    let mayHoldSecret = nearest.flatMap { known.key(spelled: $0) }?.isSecret ?? false
    diagnostics[diagnostics.count - 1].hidesSource = mayHoldSecret || isInSecret
    diagnostics[diagnostics.count - 1].path = path.appending(.key(entry.key)).description
  }

  /// Warns of personal names, since names are reported and sent.
  mutating func warnOfPrivateName(_ name: String, at node: Node) {
    guard let finding = PrivateName.found(in: name) else { return }
    report(
      "config.private-name",
      "the name `\(name)` looks like \(finding.words)",
      severity: .warning,
      hint: "names are reported and sent; use one that says what it is for",
      at: node
    )
  }

  /// Returns a hint; at the top level, authors often write the keys of a segment.
  private func hint(for key: String, nearest: String?) -> String? {
    let isOfSegments = Segment.table.shape.key(spelled: key) != nil
    if path.steps.isEmpty, isOfSegments, nearest.map({ $0 != key }) ?? true {
      return "it is a key of a segment: `segments: [{ name: NAME, \(key): … }]`"
    }
    if let levelHint = Configuration.topLevelHint(of: key, example: { "`\($0): …` at the top" }),
      nearest.map({ $0 != key }) ?? true,
      !path.steps.isEmpty
    {
      return levelHint
    }
    return nearest.map { "did you mean `\($0)`?" }
  }

  var lastKey: String {
    for step in path.steps.reversed() {
      if case .key(let key) = step { return key }
    }
    return ""
  }
}
