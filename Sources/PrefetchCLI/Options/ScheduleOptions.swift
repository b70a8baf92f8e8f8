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
    summary: "Print what makes a scheduler begin the runs of a configuration",
    paragraphs: [
      "For `systemd` a service and its timer. The service has only the rights that a run needs: a user that systemd makes for each start, a cache and a state folder that systemd makes, a read-only system except for published trees, reports and files named in hook commands, and the credentials of the configuration. For `cron` one line of a crontab, which mails what a run has to say and nothing where all is well.",
      "`--user NAME` makes the service run as that user, who then owns the trees, reports and metrics; for `cron` it prints a line for `/etc/cron.d`, with the name of the user. Standard error has the commands to run as root first.",
      "Nothing is installed: with `--output-dir` the units are written as files there, for example to `/etc/systemd/system`. A run that waits for something (75) is a success to systemd.",
      "`systemd --serve` gives the unit of `prefetch serve` over the same cache. It has the user and the folders of the unit that begins the runs, so that both may be enabled. The signal that stops it (143) is a success.",
    ],
    options: [
      .value("at", \.times, .text.called("TIME"))
        .help("When, as the scheduler writes it: `OnCalendar=` of systemd, or five fields of cron"),
      .value("user", \.user, .text.called("NAME"))
        .help("Have the runs belong to this user, and say what is to be made and owned for it"),
      .flag("serve", \.isForServer)
        .help("Give the unit of a server over the cache of these runs"),
      .flag("pull", \.pulls).help("With `--serve`: a server that fetches what it does not have"),
      .value("output-dir", \.folder, .directory)
        .help("Write the units there instead of printing them"),
    ],
    operands: .one("systemd|cron", \.scheduler, .word),
    exits: [.ok, .usage, .io, .config],
    examples: [
      "prefetch schedule systemd --output-dir /etc/systemd/system":
        "Install a timer for `./prefetch.yaml`; `systemctl enable --now` starts it",
      "prefetch schedule systemd --serve --output-dir /etc/systemd/system":
        "Install a server over the cache that the timer's runs fill",
      "(crontab -l; prefetch schedule cron) | crontab -": "Add a nightly run to one's own crontab",
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
