import PrefetchCore

struct ScheduleOptions: CommandOptions, Hashable {
  enum Scheduler: String, Hashable, Sendable, CaseIterable {
    case systemd
    case cron
  }

  var shared = SharedOptions()
  var scheduler = Scheduler.systemd
  var times: String?
  var folder: String?
  /// Owner of the runs; nil for a user made by systemd, or the crontab's owner.
  var user: String?
  var isForServer = false
  var pulls = false

  static let command = CommandSpec<ScheduleOptions>(
    name: "schedule",
    group: .everyday,
    summary: "Print the systemd units or the crontab line that start runs",
    paragraphs: [
      "`systemd` prints a service and its timer. The service has only the rights that a run needs: a user that systemd makes for each start, a cache and a state folder that systemd makes, and the credentials of the configuration. Its system is read-only except for published trees, reports and files named in hook commands. `cron` prints one crontab line, which mails the messages of a run, and nothing if all is well.",
      "`--user NAME` makes the service run as that user, who then owns the trees, reports and metrics. For `cron` it prints a line for `/etc/cron.d` with the user's name. Standard error lists the commands to run as root first.",
      "The command installs nothing; `--output-dir` writes the units as files, for example to `/etc/systemd/system`. systemd counts a deferred run (75) as a success. prefetch-guide(7) has units for a mirror.",
      "`systemd --serve` prints the unit of `prefetch serve` for the same cache. The unit has the user and the folders of the unit of the runs, so you may enable both. systemd counts the stop signal (143) as a success.",
    ],
    options: [
      .value("at", \.times, .text.called("TIME"))
        .help("Start times: `OnCalendar=` of systemd, or five fields of cron"),
      .value("user", \.user, .text.called("NAME"))
        .help("Run as this user, and list what you must create for the user"),
      .flag("serve", \.isForServer)
        .help("Print the unit of a server for the same cache"),
      .flag("pull", \.pulls).help("With `--serve`: let the server fetch what is missing"),
      .value("output-dir", \.folder, .directory)
        .help("Write the units to this folder instead of printing them"),
    ],
    operands: .one("systemd|cron", \.scheduler, .word),
    exits: [.ok, .usage, .io, .config],
    examples: [
      "prefetch schedule systemd --output-dir /etc/systemd/system":
        "Install a timer for `./prefetch.yaml`; `systemctl enable --now` starts it",
      "prefetch schedule systemd --serve --output-dir /etc/systemd/system":
        "Install a server for the cache that the timer's runs fill",
      "(crontab -l; prefetch schedule cron) | crontab -": "Add a nightly run to your own crontab",
    ],
    refusesJSON: true,
    validate: { options in
      var diagnostics: [Diagnostic] = []
      if options.scheduler == .cron, options.folder != nil {
        diagnostics.append(
          "usage.conflict",
          "`--output-dir` is for units of systemd; a crontab has no files"
        )
      }
      if options.scheduler == .cron, options.isForServer {
        diagnostics.append("usage.conflict", "`--serve` is for systemd; cron starts no servers")
      }
      if options.pulls, !options.isForServer {
        diagnostics.append("usage.conflict", "`--pull` is for the server of `--serve`")
      }
      if options.isForServer, options.times != nil {
        diagnostics.append(.exclusive("--serve", "--at"))
      }
      if let user = options.user, !ServiceUser.isName(user) {
        diagnostics.append(
          "usage.bad-value",
          "`--user`: `\(user)` is not a name of a user: small letters, digits, `-` and `_`, a letter first"
        )
      }
      if let times = options.times {
        let objection =
          switch options.scheduler {
          case .cron: ScheduleTimes.objection(toCron: times)
          case .systemd: ScheduleTimes.objection(toCalendar: times)
          }
        if let objection { diagnostics.append("usage.bad-value", "`--at`: \(objection)") }
      }
      return diagnostics
    },
    makeCommand: { ScheduleCommand(context: $0, options: $1) }
  )
}
