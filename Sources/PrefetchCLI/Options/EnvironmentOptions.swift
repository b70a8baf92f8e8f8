import PrefetchCore

struct EnvironmentOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var segments: [String] = []
  var shell = VariableText.plain
  var isStrict = false

  static let command = CommandSpec<EnvironmentOptions>(
    name: "env",
    group: .machines,
    summary: "Print the variables that point tools at published trees",
    paragraphs: [
      """
      One `NAME=value` a line, quoted for a shell. `--shell sh` writes `export` before each, for \
      `eval`; `--shell github` writes the form of `$GITHUB_ENV`, `--shell dotenv` that of `.env` files. \
      The variables are \
      `npm_config_cache`, `npm_config_prefer_offline` and `npm_config_audit` for layout `npm`, \
      `PIP_NO_INDEX`, `PIP_FIND_LINKS`, `UV_OFFLINE` and `UV_FIND_LINKS` for `pip`, \
      `GOPROXY` for `go`, `CARGO_HOME` for `cargo`, `YARN_YARN_OFFLINE_MIRROR` for `yarn`. Bazel has \
      no variable of its own: `BAZEL_REPOSITORY_CACHE` is for \
      `bazel build --repository_cache="$BAZEL_REPOSITORY_CACHE"`.
      """,
      """
      Nothing is printed for a segment that is not `current`, whose tree is missing or incomplete, or \
      whose local list has changed since the last run; standard error says why. Its tool then uses the \
      network. If a tree of layout `pip` is missing, `PIP_NO_INDEX` and `UV_OFFLINE` are not set either; \
      if one of layout `go` is missing, `GOPROXY` ends with `,direct`. With `--strict` the command then \
      ends with 4, as it does if no segment publishes a tree. Secrets need not be set. npm, Bazel, \
      Cargo and Yarn use one folder: that of the first segment with their layout. The layouts `url`, `basename` and `hls` have no variable. A tree \
      of layout `cargo` that cannot be written gets none either: `cargo --config \
      TREE/.cargo/config.toml` builds from it.
      """,
    ],
    options: [
      .choice("shell", \.shell, .word.called("FORM"))
        .help("Write the lines as `sh`, `github`, `dotenv` or `plain`"),
      .flag("strict", \.isStrict).help(
        "End with 4 if a segment's tree is missing or not up to date"
      ),
    ],
    operands: .any("SEGMENT", \.segments, completion: .segments),
    exits: [.ok, .nothing, .usage, .config],
    examples: [
      "eval \"$(prefetch env --shell sh)\"; npm ci":
        "Install from what the last run has stored",
      "prefetch env --strict --shell github >>\"$GITHUB_ENV\"":
        "Let the next steps of a workflow use the trees, or stop here",
    ],
    refusesJSON: true,
    makeCommand: { EnvironmentCommand(context: $0, options: $1) }
  )
}
