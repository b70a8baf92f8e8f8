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
      Prints one `NAME=value` a line, quoted for a shell. `--shell sh` writes `export` before each, \
      for `eval`; `--shell github` writes for `$GITHUB_ENV`, `--shell dotenv` for `.env` files.
      """,
      """
      The variables by layout are: \
      `npm`: `npm_config_cache`, `npm_config_prefer_offline`, `npm_config_audit`; \
      `pip`: `PIP_NO_INDEX`, `PIP_FIND_LINKS`, `UV_OFFLINE`, `UV_FIND_LINKS`; \
      `go`: `GOPROXY`; `cargo`: `CARGO_HOME`; `yarn`: `YARN_YARN_OFFLINE_MIRROR`; \
      `bazel`: `BAZEL_REPOSITORY_CACHE`, for \
      `bazel build --repository_cache="$BAZEL_REPOSITORY_CACHE"`; `url`, `basename` and `hls`: none.
      """,
      """
      A segment gets no variables if it is not `current`, if its tree is missing or incomplete, or \
      if its local list has changed since the last run. Standard error names the reason, and the \
      tool uses the network. With `--strict` such a segment ends the command with 4, and so does a \
      configuration without published trees. The command works without the secrets.
      """,
      """
      npm, Bazel, Cargo and Yarn use one folder: that of the first segment with their layout. If any \
      `pip` tree is missing, `PIP_NO_INDEX` and `UV_OFFLINE` are left out; if a `go` tree is \
      missing, `GOPROXY` ends with `,direct`. A `cargo` tree that is not writable gets no variable: \
      build with `cargo --config TREE/.cargo/config.toml`.
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
        "Install packages from the trees of the last run",
      "prefetch env --strict --shell github >>\"$GITHUB_ENV\"":
        "Let the next steps of a workflow use the trees, or stop here",
    ],
    refusesJSON: true,
    makeCommand: { EnvironmentCommand(context: $0, options: $1) }
  )
}
