import PrefetchCore

struct CheckOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var replacesMissingSecrets = false

  static let command = CommandSpec<CheckOptions>(
    name: "check",
    group: .everyday,
    summary: "Validate the configuration without asking any server",
    paragraphs: [
      "Prints all problems at once, with file, line, column and the most likely correction.",
      "The command asks no server. It reads lists in local files as a run does, but no pipe and no standard input. A missing list is an error, and with `--no-secrets` a warning, because a step before the run may make it.",
    ],
    options: [
      .flag("no-secrets", \.replacesMissingSecrets)
        .help(
          "Accept unset `${env:…}`, `${file:…}` and `${credential:…}` as placeholders, for CI"
        )
    ],
    exits: [.ok, .io, .config],
    examples: [
      "prefetch check --no-secrets": "Validate a pull request in CI",
      "prefetch check -c site.yaml -c secrets.yaml --json":
        "All problems of two merged files, for another program",
    ],
    makeCommand: { CheckCommand(context: $0, options: $1) }
  )
}
