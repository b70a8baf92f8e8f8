import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

/// The text of a configuration that somebody is going to change: a comment at each key, and what is
/// often wanted besides behind a hash.
enum BeginningText {
  static let ofNothing =
    """
    \(head("prefetch init"))
    segments:
      - name: basics                     # what reports call it
        urls:                            # the files themselves, by their addresses,
          - https://www.example.org/robots.txt
        # manifest: https://www.example.org/SHA256SUMS   # or a list of them that is asked for each time

    \(furtherSegmentKeys)
    \(tail)
    """

  static func of(
    list: String,
    base: WebURL?,
    plainHosts: [String],
    items: Int?
  ) -> String {
    let count = items.map { "\(Amounts.count(Int64($0), "item")) now; " } ?? ""
    let baseLine =
      base.map { "base: \(scalar($0.string))   # where its names lead" }
      ?? "# base: https://www.example.org/files/   # where its names lead, if they have no host"
    return """
      \(head("prefetch init --from \(SafeText.line(Redaction.url(list)))"))
      segments:
        - name: files                      # what reports call it
          manifest: \(scalar(list))   # \(count)every run reads it anew
          \(baseLine)

      \(furtherSegmentKeys)
      \(exceptions(for: plainHosts))\(tail)
      """
  }

  /// What differs from the defaults.
  static func of(
    _ loaded: LoadedConfiguration,
    origin: String,
    default standard: JSONValue
  ) -> String {
    var lines: [String] = []
    for (key, value) in differences(loaded.canonical, standard) {
      guard key != "license" else { continue }
      if let comment = comments[key] { lines += ["", "# \(comment)"] }
      lines += YAMLText.lines(.object([(key, value)]))
    }
    if loaded.configuration.license != nil {
      lines += [
        "",
        "# The license key is a secret and was not copied: give it as PREFETCH_LICENSE, or here.",
        "# license: ${env:MAP_LICENSE}",
      ]
    }
    if loaded.configuration.segments.contains(where: { $0.manifest == nil && $0.urls.isEmpty }) {
      lines += [
        "", "# Where the manifests of segments are that have none of their own: change it.",
        "manifests: \(scalar("https://www.example.org/{segment}.json"))",
      ]
    }
    return """
      \(head("prefetch init --from \(SafeText.line(origin))"))\(lines.joined(separator: "\n"))

      \(tail)
      """
  }

  // MARK: Parts

  private static func head(_ command: String) -> String {
    """
    # Written by `\(command)`.
    # `prefetch check` looks for mistakes, `prefetch plan` says what a run would do, and
    # `man prefetch.yaml` has every key.
    version: 1
    # name: nightly                        # who this is to the cache, wherever the file lies

    """
  }

  /// Beside the segment's own.
  private static let furtherSegmentKeys =
    """
        # ttl: 1d                          # do not ask again before that, where the server states nothing
        # required: false                  # a run may end well without it
        # publish: { dir: ./files, layout: basename }   # the files under their names, for other programs
    """

  private static let tail =
    """
    # cache: { dir: ./cache, size: 20GB }  # where the content is, and how much it may be
    # network: { rate: 5MB/s, windows: "22:00-06:00" }   # how fast, and when
    # report: { files: { junit: report.xml } }   # what runs leave for others to read

    """

  private static let comments = [
    "bundle_id": "The app that manifests must be made for.",
    "cache": "Where the content is kept, and how much of it.",
    "manifests": "Where the manifest of a segment is that has none of its own.",
    "segments": "What is kept, and who says what that is.",
    "subscriptions": "Segments are joined on the first run, and changed by `prefetch subscribe`.",
    "tls": "Whom servers must prove to be.",
    "transport_security": "Everything is https unless a rule here says otherwise.",
  ]

  private static func exceptions(for hosts: [String]) -> String {
    guard !hosts.isEmpty else { return "" }
    var lines = ["# Everything is https unless a rule here says otherwise.", "transport_security:"]
    if hosts.contains(where: TransportSecurity.isLocal) {
      lines.append("  NSAllowsLocalNetworking: true")
    }
    let others = hosts.filter { !TransportSecurity.isLocal($0) }
    if !others.isEmpty { lines.append("  NSExceptionDomains:") }
    for host in others {
      lines.append("    \(scalar(host)): { NSExceptionAllowsInsecureHTTPLoads: true }")
    }
    return (lines + ["", ""]).joined(separator: "\n")
  }

  private static func scalar(_ text: String) -> String {
    // A dollar would begin a variable.
    let literal = text.reduce(into: "") { $0 += $1 == "$" ? "$$" : String($1) }
    return YAMLText.lines(.string(literal)).joined()
  }

  private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
    JSONWriter.string(a) == JSONWriter.string(b)
  }

  /// The keys whose values are not those that hold anyway.
  private static func differences(
    _ value: JSONValue,
    _ standard: JSONValue
  ) -> [(String, JSONValue)] {
    guard case .object(let members) = value, case .object(let usual) = standard else { return [] }
    let known = Dictionary(usual) { first, _ in first }
    return members.compactMap { key, value in
      let standard = known[key] ?? .null
      guard !isSame(value, standard), !isSame(value, .null) else { return nil }
      if key == "segments", case .array(let segments) = value {
        let usual = known["defaults"] ?? .null
        return (key, .array(segments.map { .object(differences($0, usual)) }))
      }
      guard case .object(let usual) = standard, !usual.isEmpty else { return (key, value) }
      return (key, .object(differences(value, standard)))
    }
  }
}
