/// Exit status of the program; each stands for one decision of the caller.
package enum ExitStatus: Int32, Hashable, Sendable, CaseIterable {
  case ok = 0
  case failed = 1
  case changes = 2
  case incomplete = 3
  case nothing = 4
  case trust = 5
  case notOurs = 6
  case usage = 64
  case unavailable = 69
  case io = 74
  case deferred = 75
  case denied = 77
  case config = 78
  case interrupted = 130
  case terminated = 143

  package var code: Int32 {
    rawValue
  }

  package var name: String {
    switch self {
    case .ok: "ok"
    case .failed: "failed"
    case .changes: "changes"
    case .incomplete: "incomplete"
    case .nothing: "nothing"
    case .trust: "trust"
    case .notOurs: "not-ours"
    case .usage: "usage"
    case .unavailable: "unavailable"
    case .io: "io"
    case .deferred: "deferred"
    case .denied: "denied"
    case .config: "config"
    case .interrupted: "interrupted"
    case .terminated: "terminated"
    }
  }

  package var badge: String {
    switch self {
    case .trust: "security failure"
    case .nothing: "all failed"
    case .denied: "access denied"
    case .ok, .failed, .changes, .incomplete, .notOurs, .usage, .unavailable, .io, .deferred,
      .config, .interrupted, .terminated:
      name
    }
  }

  /// Meaning in the manual; literals are in backticks.
  package var meaning: String {
    switch self {
    case .ok:
      "everything is up to date, or would be after a run; the configuration is valid"
    case .failed:
      "anything that no other status describes, internal errors included"
    case .changes:
      "only with `--detailed-exitcode`: the dry run found changes, or the run made some"
    case .incomplete:
      "an item or a manifest failed; something selected is usable"
    case .nothing:
      "every selected segment is `failed` (nothing of it is in the cache), or the requested item is missing"
    case .trust:
      "a pin, certificate, transport-security, redirect-rule, checksum or signature violation on any item; nothing bad was kept"
    case .notOurs:
      "a push payload was not meant for prefetch; nothing was done"
    case .usage:
      "a bad option or argument, or a segment name that matches nothing"
    case .unavailable:
      "every failure was connectivity (DNS, connection, timeout, 429 or 5xx), and no request got another answer"
    case .io:
      "local disk, store or output: full, no permission, damaged, or from a newer version"
    case .deferred:
      "nothing is wrong, but it is not finished, and time or circumstances alone will lift that: a held lock, a window, a quota, a deadline, Retry-After; `next_allowed_at` in the report says when"
    case .denied:
      "the license, credentials (401, 403) or a proxy's credentials (407) were refused"
    case .config:
      "the configuration is missing, unreadable or invalid"
    case .interrupted:
      "ended by SIGINT; finished work is kept, and the next run continues"
    case .terminated:
      "ended by SIGTERM; finished work is kept, and the next run continues"
    }
  }
}
