import PrefetchCore

enum Presence: String, Hashable, Sendable, CaseIterable {
  case auto
  case always
  case never
}

enum LogFormat: String, Hashable, Sendable, CaseIterable {
  case text
  case json
}

struct Setting: Hashable, Sendable {
  var key: String
  var value: String

  init?(_ text: String) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
    key = String(text[..<equals])
    value = String(text[text.index(after: equals)...])
  }
}

struct SharedOptions: Hashable, Sendable {
  /// Files in the order given; `-` is standard input.
  var configurationFiles: [String] = []
  var settings: [Setting] = []
  var profile: String?
  var cacheDirectory: String?
  var stateDirectory: String?
  var manifestTemplate: String?
  var network: StatedNetwork?
  var isJSON = false
  var isQuiet = false
  /// Verbosity: 0, 1, or 2 and more for a trace.
  var verbosity = 0
  var color = Presence.auto
  var progress = Presence.auto
  var logFormat = LogFormat.text
  var logFile: String?
  fileprivate var showsVersion = false
  fileprivate var showsHelp = false
}

extension SharedOptions {
  /// Whether `--cache-dir` may name the cache in a mirror's folder, which needs no configuration.
  var mayNameMirror: Bool {
    guard configurationFiles.isEmpty, let cacheDirectory else { return false }
    return cacheDirectory.split(separator: "/").last == Substring(MirrorRules.ownFolder)
  }

  static let specs: [OptionSpec<SharedOptions>] = [
    .values("config", short: "c", \.configurationFiles, .file)
      .help(
        "Read this configuration; repeated, later files are merged over earlier ones; `-` is standard input"
      ),
    .values(
      "set",
      \.settings,
      ValueKind(expectation: "KEY=VALUE", parse: { Setting($0) }).called("KEY=VALUE")
    )
    .help(
      "Set one key of the configuration, such as `network.concurrency=4` or `segments.NAME.ttl=1h`, but no secret"
    ),
    .value("profile", \.profile, .text.called("NAME"))
      .help("Put the values of this profile over the others of the configuration"),
    .value("cache-dir", \.cacheDirectory, .directory)
      .help("Folder of the cache, instead of `~/.cache/prefetch`"),
    .value("state-dir", \.stateDirectory, .directory)
      .help(
        "Folder of subscriptions, quotas and past runs, instead of `~/.local/state/prefetch`"
      ),
    .value("manifests", \.manifestTemplate, .manifestTemplate)
      .help(
        "URL of the manifests of segments that have only a name; it contains `{segment}`"
      ),
    .value("network", \.network, .statedNetwork)
      .help(
        "Assume this network instead of detecting it: `ethernet`, `wifi` or `cellular`; `metered` if it costs by volume"
      ),
    .flag("json", \.isJSON).help("Print the result as one JSON document"),
    .flag("quiet", short: "q", \.isQuiet)
      .help("Print no report if all is well, and no progress"),
    .count("verbose", short: "v", \.verbosity)
      .help(
        "Print failures, their connections, and waits; given twice, print every request with both heads"
      ),
    .choice("color", \.color, .word.called("WHEN"))
      .help("Use colour `always`, `never`, or as the terminal suggests (`auto`)"),
    .choice("progress", \.progress, .word.called("WHEN"))
      .help(
        "Show progress `always` (in plain lines if nothing can be drawn), `never`, or on a terminal only (`auto`)"
      ),
    .choice("log-format", \.logFormat, .word.called("FORMAT"))
      .help("Write messages as `text`, or as one JSON object a line (`json`)"),
    .value("log-file", \.logFile, .file)
      .help("Append messages to this file instead of writing them to standard error"),
    .flag("version", short: "V", \.showsVersion)
      .help("Print the versions of the program and its libraries"),
    .flag("help", short: "h", \.showsHelp).help("Print help on the program or on a command"),
  ]
}

extension ValueKind where Value == StatedNetwork {
  fileprivate static var statedNetwork: Self {
    let types = NetworkType.allCases.map(\.rawValue)
    return Self(
      expectation: "\(Wording.list(types, conjunction: "or")), with `,metered` or without",
      completion: .words(types + types.map { "\($0),metered" }),
      placeholder: "TYPE[,metered]",
      suggest: { Suggestion.nearest(to: $0, among: types) },
      parse: { StatedNetwork($0) }
    )
  }
}

extension ValueKind where Value == String {
  fileprivate static var manifestTemplate: Self {
    Self(expectation: "a URL that holds `{segment}`", placeholder: "TEMPLATE") { text in
      text.contains("{segment}") ? text : nil
    }
  }
}
