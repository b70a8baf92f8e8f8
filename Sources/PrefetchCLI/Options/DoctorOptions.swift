import PrefetchCore

struct DoctorOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<DoctorOptions>(
    name: "doctor",
    group: .everyday,
    summary: "Say what a run would find on this machine",
    paragraphs: [
      "A line for each thing that a run needs: the libraries, the configuration, the folders of cache, state, published trees and reports and whether they can be written, the file system and its room, the caches below and whether this version reads them, a run that is going on, the clock, the network and its rules, the license, programs of hooks that are not there, what begins runs, and where anything is sent. No server is asked but the one of `cache.remote`, and nothing is written here. The exit status is 0 where nothing is wrong, else what a run would end with for it: for example 78 for the configuration, 74 for a folder, 75 where all waits; and 1 where runs work but you should fix something, such as a timer that is not enabled.",
      "The store that machines share is asked for the empty body, and given it where runs write there: whether it can be reached, refuses the credentials, takes bodies as `mode` says, is slow, or has another clock, each with what to change. The empty body is the only one that stays there, and takes no room; records are not tried.",
    ],
    exits: [.ok, .failed, .usage, .trust, .unavailable, .io, .deferred, .denied, .config],
    examples: [
      "prefetch doctor -c /etc/prefetch/config.yaml": "Look at what cron would find",
      "prefetch doctor": "What to send with a report of a fault",
    ],
    makeCommand: { context, _ in DoctorCommand(context: context) }
  )
}
