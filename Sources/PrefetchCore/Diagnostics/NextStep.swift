/// Next steps for diagnostics without an own hint, by code.
package enum NextStep {
  /// Returns the step for a code; `publish.disk_full` and the like get the failure's step.
  package static func of(_ code: Diagnostic.Code) -> String? {
    let name = code.description
    if let step = table[name] { return step }
    guard let dot = name.firstIndex(of: ".") else { return nil }
    return ErrorCode(rawValue: String(name[name.index(after: dot)...]))?.nextStep
  }

  /// Returns the step for a code, unless the message states its own after a semicolon.
  package static func of(_ code: Diagnostic.Code, after message: String) -> String? {
    isStated(in: message) ? nil : of(code)
  }

  /// Returns the step for a failure, unless its message states its own.
  package static func of(_ failure: Failure) -> String? {
    isStated(in: failure.message) ? nil : failure.code.nextStep
  }

  private static func isStated(in message: String) -> Bool { message.contains("; ") }

  package static let table: [String: String] = [
    "analytics.busy": "its events are sent by that process; nothing is to be done",
    "analytics.slow": "`prefetch event flush` sends the rest",
    "cache.over-limit": "raise the limit, or unlock what may go with `prefetch unlock`",
    "config.bad-clock": "write a time such as `22:00`",
    "config.bad-date": "write a date such as `2027-06-30`",
    "config.bad-digest": "copy the digest from its publisher",
    "config.bad-header":
      "name a header that prefetch does not write itself, and keep its value on one line",
    "config.bad-host": "write the host alone, in lower case",
    "config.bad-key": "take the second line of the `.pub` file",
    "config.bad-pin": "`prefetch pins HOST` prints the pins of a server",
    "config.bad-proxy": "write it as `http://HOST:PORT`",
    "config.bad-unit": "write a number with a unit, such as `10MB` or `30s`",
    "config.bad-url": "write the whole URL, with `https://`",
    "config.include-cycle": "remove one of the `include` keys",
    "config.include-depth": "merge some of the included files",
    "config.misplaced": "move it into `custom_metric`",
    "config.missing-key": "add the key; `man prefetch.yaml` describes it",
    "config.missing-url": "add `url: https://…`",
    "config.old-spelling": "write the new spelling",
    "config.pin-union": "remove one of the two entries if only its keys may serve the host",
    "config.unenforceable": "remove the key",
    "config.unknown-value": "`man prefetch.yaml` lists the values of each key",
    "config.unreadable": "let this user read it",
    "config.unset-variable": "set it, or give a default: `${env:NAME:-…}`",
    "config.wrong-value": "`man prefetch.yaml` describes each key",
    "document.empty": "check the program that wrote it",
    "document.too-deep": "split it into several documents",
    "document.too-large": "split it into several documents",
    "event.not-open":
      "`prefetch event start` opens one; `prefetch event list` shows which are open",
    "event.not-recorded": "check the folder of the state; `prefetch doctor` shows it",
    "event.not-started": "check the name of the program, and that it may be executed",
    "events.dropped": "read the events faster, or write them to a file",
    "export.nothing": "name items that are stored; `prefetch list` shows them",
    "get.older": "`prefetch run` fetches the new one",
    "get.stale": "`prefetch get --revalidate` asks its server again",
    "hook.dropped": "make the hook faster, or lower its `timeout`",
    "hook.failed": "run its program by hand; `hooks` in the configuration names it",
    "import.left-out": "fetch it with `prefetch get`, or export it again",
    "init.unreadable": "name a list that prefetch reads, or a file that it can open",
    "item.deferred": "try again later; `prefetch explain` shows until when",
    "item.not-cached": "`prefetch get` fetches it",
    "item.not-found": "`prefetch list` shows the items that are known",
    "item.unknown": "`prefetch list` shows the items that are known",
    "log.open": "name another `--log-file`, or make its folder",
    "log.unknown": "`prefetch list` and `prefetch status` show the known ones",
    "manifest.dates": "try again later, or set `age_from: seen`",
    "manifest.checksums": "ask the publisher of the release, or try again later",
    "manifest.expired": "build or sign it again with a later `--expires`",
    "manifest.folder": "name the folder that holds the files",
    "manifest.ignored": "remove it from the list, or ignore this warning",
    "manifest.invalid": "correct the list; `prefetch manifest check` names its faults",
    "manifest.key": "name a minisign key that this user can read",
    "manifest.left-out": "list what is missing in a segment with `urls`",
    "manifest.mirror": "correct the mirror, or remove it",
    "manifest.no-expiry": "ask its publisher to state `expires`",
    "manifest.option": "remove the option",
    "manifest.previous": "name the manifest that was built before",
    "manifest.signature": "sign it with `prefetch manifest sign`, or correct the key",
    "manifest.signature-unchecked": "check it with `gpg --verify` where that matters",
    "manifest.write": "name another place with `-o`, or make its folder",
    "notify.unknown-segment": "`prefetch subscribe` joins it",
    "notify.unread": "pass the payload on standard input",
    "output.write": "free space where standard output goes, or name another place",
    "publish.busy": "verify again when the other process has ended",
    "publish.copied": "put the cache and the folder on one file system to share the files",
    "publish.not-whole": "`prefetch run` fetches what is missing",
    "report.write": "make its folder, or let this user write there",
    "run.breaker": "check the server; the next run tries again",
    "run.html-cards": "nothing is to be done: players show the ad without the card",
    "run.no-ad": "nothing is to be done: the ad server decides this",
    "run.stale": "`prefetch run` confirms them when their servers answer",
    "schedule.write": "make the folder, or let this user write there",
    "serve.address": "end the program that uses the address, or name another one with `--listen`",
    "serve.no-lease": "let this user write into the cache's folder",
    "serve.switched-off": "ask the publisher, or set `features.pull_through: true`",
    "status.no-cache": "`prefetch run` makes it",
    "status.too-old": "`prefetch run` updates it; `prefetch log` shows what failed",
    "store.backup-damaged": "nothing is to be done: the next run makes a new copy",
    "store.locked": "`--wait` waits for the other process",
    "store.rescued": "nothing is to be done: they are sent as before",
    "usage.bad-operand": "`prefetch help COMMAND` shows how it is called",
    "usage.bad-set": "write `--set key.path=VALUE`",
    "usage.bad-url": "correct the URL, and quote it for the shell",
    "usage.conflict": "leave one of them out",
    "usage.future": "name a time that is past, or correct the clock",
    "usage.missing-operand": "`prefetch help COMMAND` shows how it is called",
    "usage.missing-value": "give the option a value",
    "usage.no-json": "leave out `--json`",
    "usage.not-published": "add `publish` to the segment, or name another one",
    "usage.unexpected-value": "leave out the value",
    "with-lock.not-started": "check the name of the program, and that it may be executed",
  ]
}
