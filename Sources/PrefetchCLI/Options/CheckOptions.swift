import PrefetchCore

struct CheckOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var replacesMissingSecrets = false

  static let command = CommandSpec<CheckOptions>(
    name: "check",
    group: .everyday,
    summary: "Validate the configuration without asking any server",
    paragraphs: [
      "Every problem is printed at once, with file, line, column and the nearest thing that was probably meant.",
      "No server is asked. Lists in local files are read as a run reads them, but no pipe and no standard input; one that is missing is an error, and with `--no-secrets` a warning, since a step before the run may make it.",
    ],
    options: [
      .flag("no-secrets", \.replacesMissingSecrets)
        .help(
          "Take unset `${env:…}`, `${file:…}` and `${credential:…}` as placeholders, as CI needs it"
        )
    ],
    exits: [.ok, .io, .config],
    examples: [
      "prefetch check --no-secrets": "Validate a pull request in CI",
      "prefetch check -c site.yaml -c secrets.yaml --json":
        "Every problem of two merged files, for another program",
    ],
    makeCommand: { CheckCommand(context: $0, options: $1) }
  )
}
