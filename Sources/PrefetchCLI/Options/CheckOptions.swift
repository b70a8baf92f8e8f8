import PrefetchCore

/// The options of `check`.
struct CheckOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var replacesMissingSecrets = false

  static let command = CommandSpec<CheckOptions>(
    name: "check",
    group: .configuration,
    summary: "Validate the configuration without asking any server",
    paragraphs: [
      "Every problem is printed at once, with file, line, column and the nearest thing that was probably meant."
    ],
    options: [
      .flag(
        "no-secrets",
        \.replacesMissingSecrets,
        help:
          "Take unset `${env:…}`, `${file:…}` and `${credential:…}` as placeholders, as CI needs it"
      )
    ],
    exits: [.ok, .config],
    examples: [
      CommandExample(
        command: "prefetch check --no-secrets",
        purpose: "Validate a pull request in CI"
      ),
      CommandExample(
        command: "prefetch check -c site.yaml -c secrets.yaml --json",
        purpose: "Every problem of two merged files, for another program"
      ),
    ],
    initial: CheckOptions(),
    wrap: { .check($0) }
  )
}
