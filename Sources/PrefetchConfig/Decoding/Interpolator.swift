import PrefetchCore
import PrefetchDocuments

/// Resolves `${env:…}`, `${file:…}`, `${credential:…}`, `${var:…}` and `${license}`.
struct Interpolator: Sendable {
  struct Outcome: Sendable {
    var text = ""
    /// Contents of files and credentials, and of variables in paths of URLs; never shown.
    var secrets: [String] = []
    /// References by the secrets that they insert.
    var placeholders: [String: String] = [:]
    var problems: [ValueComplaint] = []
    /// First reference whose value is unknown and need not be known; nil where all are.
    private(set) var gap: Gap?
    fileprivate var references = 0
    /// Whether the value exceeded a limit, after which nothing is appended.
    fileprivate var isOverfull = false

    var isPlaceholder: Bool { gap != nil }

    /// A variable may hold a whole address or a host, which is no secret.
    fileprivate mutating func leaveGap(isVariable: Bool = false) {
      gap = gap ?? Gap(textBefore: text, isVariable: isVariable)
    }
  }

  struct Gap: Sendable {
    var textBefore: String
    var isVariable: Bool
  }

  /// Whether text that follows is in the path of a URL, or behind it.
  static func reachesPath(_ text: String) -> Bool {
    guard let scheme = text.firstRange(of: "://") else { return false }
    return text[scheme.upperBound...].contains { "/?#".contains($0) }
  }

  /// Longest resolved text, since a referenced file may be large.
  private static let maximumText = 8 << 20
  private static let maximumReferences = 10_000

  let environment: ConfigurationEnvironment
  let resolver: PathResolver
  var variables: [String: Node] = [:]
  var license: String?
  var allowsUnset = false

  private static let depthLimit = 16

  func resolve(_ text: String, in source: String, allowsLicense: Bool) -> Outcome {
    var outcome = Outcome()
    resolve(text[...], in: source, allowsLicense: allowsLicense, depth: 0, into: &outcome)
    return outcome
  }

  private func resolve(
    _ text: Substring,
    in source: String,
    allowsLicense: Bool,
    depth: Int,
    into outcome: inout Outcome
  ) {
    var rest = text
    while !outcome.isOverfull, let dollar = rest.firstIndex(of: "$") {
      outcome.text += rest[..<dollar]
      rest = rest[rest.index(after: dollar)...]
      if rest.hasPrefix("$") {
        outcome.text += "$"
        rest = rest.dropFirst()
      } else if rest.hasPrefix("{") {
        guard let close = rest.firstIndex(of: "}") else {
          outcome.problems.append(
            ValueComplaint("`${` has no `}`", hint: "write `$$` for a dollar")
          )
          return
        }
        let name = rest[rest.index(after: rest.startIndex)..<close]
        substitute(name, in: source, allowsLicense: allowsLicense, depth: depth, into: &outcome)
        rest = rest[rest.index(after: close)...]
      } else {
        outcome.text += "$"
      }
    }
    if !outcome.isOverfull { outcome.text += rest }
    bound(&outcome)
  }

  /// Stops variables that name each other from making unlimited text out of a few lines.
  private func bound(_ outcome: inout Outcome) {
    guard !outcome.isOverfull,
      outcome.text.utf8.count > Self.maximumText || outcome.references > Self.maximumReferences
    else { return }
    outcome.isOverfull = true
    outcome.text = ""
    outcome.problems.append(
      ValueComplaint(
        "its variables make more than \(Self.maximumText >> 20) MiB of text, or name more than "
          + "\(Self.maximumReferences) others"
      )
    )
  }

  private func substitute(
    _ reference: Substring,
    in source: String,
    allowsLicense: Bool,
    depth: Int,
    into outcome: inout Outcome
  ) {
    outcome.references += 1
    bound(&outcome)
    guard !outcome.isOverfull else { return }
    if reference == "license" {
      substituteLicense(allowed: allowsLicense, into: &outcome)
      return
    }
    guard let colon = reference.firstIndex(of: ":") else {
      let hint = "write `${env:\(reference)}` or `${var:\(reference)}`; `$$` is a dollar"
      outcome.problems.append(
        ValueComplaint("`${\(reference)}` does not say where from", hint: hint)
      )
      return
    }
    let name = String(reference[reference.index(after: colon)...])
    switch reference[..<colon] {
    case "env":
      substituteVariable(name, into: &outcome)
    case "file":
      substituteFile(resolver.resolve(name, in: source), reference: reference, into: &outcome)
    case "credential":
      substituteCredential(name, reference: reference, into: &outcome)
    case "var":
      substituteOwn(name, allowsLicense: allowsLicense, depth: depth, into: &outcome)
    default:
      outcome.problems.append(
        ValueComplaint(
          "`${\(reference)}` is of no known kind",
          hint: "known are `env:`, `file:`, `credential:`, `var:`; `$$` is a dollar"
        )
      )
    }
  }

  private func substituteLicense(allowed: Bool, into outcome: inout Outcome) {
    guard allowed else {
      outcome.problems.append(ValueComplaint("`${license}` can be used in `headers` only"))
      return
    }
    guard let license else {
      if allowsUnset {
        outcome.leaveGap()
      } else {
        outcome.problems.append(unset("`${license}` is used, but no `license` is set"))
      }
      return
    }
    outcome.text += license
    outcome.secrets.append(license)
  }

  private func substituteVariable(_ reference: String, into outcome: inout Outcome) {
    var name = reference
    var fallback: String?
    if let separator = reference.firstRange(of: ":-") {
      name = String(reference[..<separator.lowerBound])
      fallback = String(reference[separator.upperBound...])
    }
    let value = environment.variable(name)
    if let value, !value.isEmpty || fallback == nil {
      if Self.reachesPath(outcome.text) {
        outcome.secrets.append(value)
        outcome.placeholders[value] = "${env:\(name)}"
      }
      outcome.text += value
    } else if let fallback {
      outcome.text += fallback
    } else if allowsUnset {
      outcome.leaveGap(isVariable: true)
    } else {
      let hint = "set it, or give a default: `${env:\(name):-…}`"
      outcome.problems.append(unset("the environment variable `\(name)` is not set", hint: hint))
    }
  }

  private func substituteCredential(
    _ name: String,
    reference: Substring,
    into outcome: inout Outcome
  ) {
    guard !name.isEmpty, !name.contains("/"), name != ".." else {
      outcome.problems.append(ValueComplaint("`\(name)` cannot be the name of a credential"))
      return
    }
    guard let folder = environment.variable("CREDENTIALS_DIRECTORY"), !folder.isEmpty else {
      if allowsUnset { return outcome.leaveGap() }
      let hint = "give it with systemd's `LoadCredential=\(name):…`"
      outcome.problems.append(
        unset(
          "the credential `\(name)` is not there: `CREDENTIALS_DIRECTORY` is not set",
          hint: hint
        )
      )
      return
    }
    substituteFile("\(folder)/\(name)", reference: reference, into: &outcome)
  }

  private func substituteFile(_ path: String, reference: Substring, into outcome: inout Outcome) {
    switch environment.readFile(path) {
    case .failure(let fault):
      if allowsUnset { return outcome.leaveGap() }
      outcome.problems.append(unset("`${\(reference)}`: `\(path)` \(fault.wording)"))
    case .success(let bytes):
      guard let text = String(validating: bytes, as: UTF8.self) else {
        outcome.problems.append(ValueComplaint("`${\(reference)}`: `\(path)` is not UTF-8 text"))
        return
      }
      // Editors end a file with a newline that is not part of the secret.
      let value = text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
      outcome.text += value
      outcome.secrets.append(value)
      outcome.placeholders[value] = "${\(reference)}"
    }
  }

  private func substituteOwn(
    _ name: String,
    allowsLicense: Bool,
    depth: Int,
    into outcome: inout Outcome
  ) {
    guard let node = variables[name], let text = node.scalar?.text else {
      outcome.problems.append(
        unset(
          "`vars` has no `\(name)`",
          hint: Choices.suggestion(for: name, among: variables.keys.sorted())
        )
      )
      return
    }
    guard depth < Self.depthLimit else {
      outcome.problems.append(ValueComplaint("`${var:\(name)}` refers back to itself"))
      return
    }
    resolve(
      text[...],
      in: node.source,
      allowsLicense: allowsLicense,
      depth: depth + 1,
      into: &outcome
    )
  }

  private func unset(_ message: String, hint: String? = nil) -> ValueComplaint {
    ValueComplaint(message, hint: hint, code: "config.unset-variable")
  }
}
