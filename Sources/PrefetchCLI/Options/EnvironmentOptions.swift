import PrefetchCore

/// The options of `env`.
struct EnvironmentOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var segments: [String] = []

  static let command = CommandSpec<EnvironmentOptions>(
    name: "env",
    group: .content,
    summary: "Print the variables that point tools at published trees",
    paragraphs: [
      """
      One `NAME=value` a line, quoted for a shell where that is needed: `npm_config_cache` and \
      `npm_config_prefer_offline` for layout `npm`, `PIP_NO_INDEX` and `PIP_FIND_LINKS` for `pip`, \
      `GOPROXY` for `go`, `CARGO_HOME` for `cargo`, `YARN_YARN_OFFLINE_MIRROR` for `yarn`. Bazel has \
      no variable of its own: `BAZEL_REPOSITORY_CACHE` is for \
      `bazel build --repository_cache="$BAZEL_REPOSITORY_CACHE"`.
      """,
      """
      A segment that is not `current`, or whose tree does not stand, gets no line, so that its tool \
      falls back to the network; standard error says which. npm, Bazel, Cargo and Yarn know one folder \
      only, that of the first segment; the layouts `url`, `basename` and `hls` have no variable.
      """,
    ],
    operands: .any("SEGMENT", \.segments),
    exits: [.ok, .usage, .config],
    examples: [
      "set -a; eval \"$(prefetch env)\"; set +a; npm ci":
        "Install from what the last run has stored",
      "prefetch env wheels >packages.env": "Hand the variables of one segment to a container",
    ],
    refusesJSON: true,
    makeCommand: { EnvironmentCommand(context: $0, options: $1) }
  )
}
