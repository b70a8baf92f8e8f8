import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

/// Text of a first configuration: a comment at each key, and common keys behind a hash.
enum InitialConfigurationText {
  static let ofNothing = text(
    by: "prefetch init",
    [
      "segments:",
      "  - name: basics                       # what reports call it",
      "    urls:                              # the files themselves, by their addresses,",
      "      - https://www.example.org/robots.txt",
      "    # manifest: https://www.example.org/SHA256SUMS   # or a list of them, read in every run",
    ] + furtherSegmentKeys
  )

  static func of(_ list: List, plainHosts: [String]) -> String {
    let command = "prefetch init --from \(SafeText.line(Redaction.url(list.location)))"
    guard let tool = list.tool else {
      return text(
        by: command,
        ["segments:"] + list.segment + furtherSegmentKeys + exceptions(for: plainHosts)
      )
    }
    return text(
      by: command,
      name: "name: \(scalar(tool.project))   # identity in the cache, wherever the folder is",
      ["segments:"] + list.segment + furtherSegmentKeys.dropLast() + exceptions(for: plainHosts),
      folderLines: [
        "# Both beside the tree, so that all of it can be kept between jobs, or moved.",
        "cache: { dir: ./.cache/prefetch }", "state: { dir: ./.cache/state }",
      ]
    )
  }

  struct List {
    var location: String
    var base: WebURL?
    /// Number of items; nil if the list was not read.
    var items: Int?
    var tool: Tool?
    var short: ShortAddress?

    var segment: [String] {
      let count = items.map { "\(Amounts.count(Int64($0), "item")) now; " } ?? ""
      let base = base.map { "    base: \(scalar($0.string))   # URL of its folder" }
      let listLine = "    manifest: \(scalar(location))   # \(count)every run reads it again"
      if let short {
        let example =
          short.service == .hf
          ? "    # include: [\"*.safetensors\", \"*.json\"]   # the files to take, by their paths"
          : "    # select: { name: \"tool-@v.tar.gz\" }   # the newest version of all releases, by name"
        return [
          "  - name: \(scalar(short.project.last ?? "files"))   # what reports call it",
          listLine, example,
        ]
      }
      guard let tool else {
        return [
          "  - name: files                        # what reports call it", listLine,
          base
            ?? "    # base: https://www.example.org/files/   # URL of its folder, for relative names",
        ]
      }
      let layout = tool.layout.rawValue
      let head = "  - name: \(scalar(tool.segment))"
      let padding = String(repeating: " ", count: max(1, 39 - head.count))
      return ["\(head)\(padding)# what reports call it", listLine] + [base].compactMap(\.self) + [
        "    publish: { dir: \(scalar("./.cache/\(tool.folder)")), layout: \(layout) }   # `prefetch env` leads tools there"
      ]
    }
  }

  /// Tool that a lock file belongs to.
  struct Tool {
    var layout: PublishingRules.Layout
    var project: String
    var segment: String
    var folder: String
  }

  /// Returns the settings that differ from the defaults.
  static func of(
    _ loaded: LoadedConfiguration,
    origin: String,
    plainHosts: [String],
    default standard: JSONValue
  ) -> String {
    var lines: [String] = []
    func add(_ key: String, _ value: JSONValue) {
      if !lines.isEmpty { lines.append("") }
      if let comment = comments[key] { lines.append("# \(comment)") }
      lines += YAMLText.lines(.object([(key, value)]))
    }
    let values = differences(loaded.canonical, standard).map { ($0, undotted($1)) }
    for (key, value) in values where key != "license" { add(key, value) }
    let isMissing = { (segment: Segment) in segment.manifest == nil && segment.urls.isEmpty }
    if loaded.configuration.segments.contains(where: isMissing) {
      // A placeholder that the user must replace; `check` requires it.
      add("manifests", "https://www.example.org/{segment}.json")
    }
    if loaded.configuration.license != nil {
      lines += [
        "",
        "# The license key is a secret and was not copied: PREFETCH_LICENSE has it, or a variable here.",
        "# license: ${env:LICENSE_KEY}",
      ]
    }
    if !values.contains(where: { $0.0 == "allow_http" }) { lines += exceptions(for: plainHosts) }
    return text(by: "prefetch init --from \(SafeText.line(origin))", lines)
  }

  // MARK: Parts

  private static func text(
    by command: String,
    name: String =
      "# name: nightly                        # identity in the cache, wherever the file is",
    _ lines: [String],
    folderLines: [String]? = nil
  ) -> String {
    let head = [
      "# Written by `\(command)`.",
      "# `prefetch check` looks for mistakes, `prefetch plan` says what a run would do, and",
      "# `man prefetch.yaml` has every key.",
      "version: 1",
      name, "",
    ]
    let tail =
      [""]
      + (folderLines ?? [
        "# cache: { dir: ./cache, size: 20GB }  # where the content is, and how much it may be"
      ]) + [
        "# network: { rate: 5MB/s, windows: \"22:00-06:00\" }   # how fast, and when",
        "# report: { files: { junit: report.xml } }   # what runs leave for others to read",
      ]
    return (head + lines + tail).joined(separator: "\n") + "\n"
  }

  private static let furtherSegmentKeys = [
    "    # ttl: 1d                            # do not ask again before that, where the server states nothing",
    "    # required: false                    # a run may end well without it",
    "    # publish: { dir: ./files, layout: basename }   # the files under their names, for other programs",
  ]

  private static let comments = [
    "allow_http": "Hosts that may use plain http; all others use https.",
    "bundle_id": "The app that manifests must be made for.",
    "cache": "Where the content is kept, and how much of it.",
    "manifests": "Where the manifests of segments are that name none.",
    "segments": "Which segments are kept.",
    "subscriptions": "Segments are joined on the first run, and changed by `prefetch subscribe`.",
    "tls": "How servers are authenticated.",
    "vars": "Values of `${var:NAME}`.",
    "transport_security": "Everything is https unless a rule here says otherwise.",
  ]

  private static func exceptions(for hosts: [String]) -> [String] {
    guard !hosts.isEmpty else { return [] }
    return ["", "# \(comments["allow_http"] ?? "")", "allow_http:"]
      + hosts.map { "  - \(scalar($0))" }
  }

  private static func scalar(_ text: String) -> String {
    // A dollar would begin a variable.
    let literal = text.reduce(into: "") { $0 += $1 == "$" ? "$$" : String($1) }
    return YAMLText.lines(.string(literal)).joined()
  }

  private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
    JSONWriter.string(a) == JSONWriter.string(b)
  }

  private static func differences(
    _ value: JSONValue,
    _ standard: JSONValue
  ) -> [(String, JSONValue)] {
    guard case .object(let members) = value, case .object(let usual) = standard else { return [] }
    let known = Dictionary(usual) { first, _ in first }
    return members.compactMap { key, value in
      if key == "segments", case .array(let segments) = value, !segments.isEmpty {
        let usual = known["defaults"] ?? .null
        return (key, .array(segments.map { .object(differences($0, usual)) }))
      }
      let standard = known[key] ?? .null
      guard !isSame(value, standard), let said = said(value) else { return nil }
      guard case .object(let usual) = standard, !usual.isEmpty else { return (key, said) }
      return (key, .object(differences(said, standard)))
    }
  }

  /// Replaces host names that `allow_http` cannot name (with a trailing dot).
  private static func undotted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string(PlainHostName.undotted(text))
    case .array(let values): .array(values.map(undotted))
    case .object(let members): .object(members.map { ($0, undotted($1)) })
    case .null, .bool, .integer, .double: value
    }
  }

  private static func said(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .null: nil
    case .array(let values): values.isEmpty ? nil : value
    case .object(let members):
      .object(members.compactMap { key, value in said(value).map { (key, $0) } })
    case .bool, .integer, .double, .string: value
    }
  }
}
