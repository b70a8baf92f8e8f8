import PrefetchCore

/// The options of `env`.
struct EnvironmentOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var segments: [String] = []
  var shell = VariableText.plain
  /// Whether a segment without a tree ends the command with 4.
  var isStrict = false

  static let command = CommandSpec<EnvironmentOptions>(
    name: "env",
    group: .machines,
    summary: "Print the variables that point tools at published trees",
    paragraphs: [
      """
      One `NAME=value` a line, quoted for a shell where that is needed (`--shell sh` writes `export` \
      before each, for `eval`; `github` what `$GITHUB_ENV` takes, `dotenv` what files of that name \
      hold): `npm_config_cache`, `npm_config_prefer_offline` and `npm_config_audit` for layout `npm`, \
      `PIP_NO_INDEX`, `PIP_FIND_LINKS`, `UV_OFFLINE` and `UV_FIND_LINKS` for `pip`, \
      `GOPROXY` for `go`, `CARGO_HOME` for `cargo`, `YARN_YARN_OFFLINE_MIRROR` for `yarn`. Bazel has \
      no variable of its own: `BAZEL_REPOSITORY_CACHE` is for \
      `bazel build --repository_cache="$BAZEL_REPOSITORY_CACHE"`.
      """,
      """
      A segment that is not `current`, whose tree does not stand, or whose local list has changed since \
      the last run, gets no line, so that its tool falls back to the network; standard error says which and what is missing. A missing tree of \
      layout `pip` leaves `PIP_NO_INDEX` and `UV_OFFLINE` unset, one of layout `go` adds `direct`, so that the trees \
      beside it are used and the rest comes from the network. With `--strict` the command ends with \
      4. A tree of a uv.lock sets no \
      `UV_OFFLINE`, since `uv sync` asks the addresses in that file. npm, Bazel, Cargo and Yarn know one folder \
      only, that of the first segment; the layouts `url`, `basename` and `hls` have no variable. A tree \
      of layout `cargo` that cannot be written gets none either: `cargo --config \
      TREE/.cargo/config.toml` builds from it.
      """,
    ],
    options: [
      .choice("shell", \.shell, .word.called("FORM"))
        .help(
          "Write `export` lines (`sh`), what `$GITHUB_ENV` takes (`github`), `dotenv`, or `plain` lines"
        ),
      .flag("strict", \.isStrict).help(
        "End with 4 where a segment gets no variable for want of its tree"
      ),
    ],
    operands: .any("SEGMENT", \.segments, completion: .segments),
    exits: [.ok, .nothing, .usage, .config],
    examples: [
      "eval \"$(prefetch env --shell sh)\"; npm ci":
        "Install from what the last run has stored",
      "prefetch env --strict --shell github >>\"$GITHUB_ENV\"":
        "Let the next steps of a workflow use the trees, or stop here",
      "prefetch env wheels >packages.env": "Hand the variables of one segment to a container",
    ],
    refusesJSON: true,
    makeCommand: { EnvironmentCommand(context: $0, options: $1) }
  )
}
