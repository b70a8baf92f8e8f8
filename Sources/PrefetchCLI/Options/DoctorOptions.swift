import PrefetchCore

struct DoctorOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<DoctorOptions>(
    name: "doctor",
    group: .everyday,
    summary: "Check what a run needs on this machine",
    paragraphs: [
      "Prints a line for each thing that a run needs: the libraries; the configuration; the folders of cache, state, published trees and reports, and whether they are writable; the file system and its room; lower caches, and whether this version reads them; a mirror's last run and files (`--cache-dir DIR/.prefetch`); a run in progress; the clock; the network and its rules; the license; missing programs of hooks; what starts runs; and where data is sent. The command asks no server but that of `cache.remote`, and writes nothing here. The exit status is 0 if nothing is wrong, else that of a run with the same problem: for example 78 for the configuration, 74 for a folder, 75 if everything waits. It is 1 if runs work but you should fix something.",
      "The command requests the empty body from `cache.remote`, and writes it if runs write there. It reports whether the store can be reached, refuses the credentials, takes bodies as `mode` states, is slow, or has another clock, each with what to change. Only the empty body stays there, and takes no room; records are not tried.",
    ],
    exits: [
      .ok, .failed, .incomplete, .nothing, .usage, .trust, .unavailable, .io, .deferred, .denied,
      .config,
    ],
    examples: [
      "prefetch doctor -c /etc/prefetch/config.yaml": "See what cron would find",
      "prefetch doctor": "What to send with a report of a fault",
    ],
    makeCommand: { context, _ in DoctorCommand(context: context) }
  )
}
