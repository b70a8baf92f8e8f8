enum ManualProse {
  static let description = [
    "You run `prefetch` from cron, in CI or in a pipeline. It reads one declarative configuration, finds out what every subscribed segment should hold, compares that with a local cache, and makes the cache equal to the declaration. It fetches missing items, revalidates stale ones, keeps current ones, and removes those that it declared before and no longer declares.",
    "The first word that is not an option is the command; without a command, `prefetch` means `prefetch run`. Options may stand before and after the command and its operands; `--` ends them. If an option takes one value and is given several times, the last value counts.",
    "Standard output carries only the result: the report, the plan, the list, the body. With `--json` it is exactly one JSON document, also for errors. Progress, warnings and errors go to standard error. If standard output is closed early, reading commands end quietly with 0, and `run` finishes its work; if it is full, the status is 74.",
    "On a terminal, a run draws a block of lines on standard error. Each segment has a line with its progress, its rate and the time left, or what it waits for. Large files have their own lines; if there are more segments than rows, the block shows their number. The run redraws the block at most ten times a second, at the width of the window, and removes it at the end. With `--progress always` logs get a few plain lines instead. The text report wraps lines at the width of a terminal and shortens URLs in the middle; in files and pipes every line is whole.",
    "With `-v` standard error reports every item and manifest as it ends, every wait, and every failed request: its address, TLS version, certificate names and the time of each part. `-vv` adds every request, with both heads. Credentials are masked. With `--log-format json` each line is an object with `time`, `level` (`debug`, `info`, `warning`, `error`), `run` (null outside of runs) and `message`, and if known `code`, `hint`, `url`, `segment`, `path`, `file`, `line` and `column`.",
    "Durations are written `90s`, `5m`, `2h` or `7d`; a bare number is seconds.",
  ]

  static let environment = [
    "Every long option but `--help`, `--version` and `--set` has a variable: `PREFETCH_`, then its name in capitals, with underscores for dashes. Switches take 1, true, yes, on, or 0, false, no, off; repeatable options take one value a line. `PREFETCH_VERBOSE` also takes 2; `PREFETCH_WAIT` and `PREFETCH_MAX_STALE` take a duration, or true for the option without one. An empty variable counts as unset, and so does the variable of an option that the command does not have.",
    "An option on the command line wins over its variable, and the variable wins over the configuration.",
  ]

  static let variables = [
    ("PREFETCH_LICENSE", "The license key. It has no option, so that no process list shows it."),
    (
      "CACHE_DIRECTORY",
      "Folder of the cache, unless an option or the configuration names one; systemd sets it."
    ),
    ("STATE_DIRECTORY", "Folder of subscriptions, quotas and past runs, likewise."),
    (
      "XDG_CACHE_HOME",
      "Folder that holds `prefetch/` if no cache directory is set; `~/.cache` when unset."
    ),
    (
      "XDG_STATE_HOME",
      "Folder that holds `prefetch/` if no state directory is set; `~/.local/state` when unset."
    ),
    ("XDG_CONFIG_HOME", "Folder that holds `prefetch/config.yaml`; `~/.config` when unset."),
    (
      "http_proxy, https_proxy, all_proxy, no_proxy",
      "The proxies to use if `network.proxy` is not set, or is `env`; `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` too. `tls.pins` and `tls.ca_file` do not apply to a proxy: the system's CAs must trust an https proxy."
    ),
    (
      "SSL_CERT_FILE, SSL_CERT_DIR",
      "The certificates to trust if the configuration has neither `tls.ca_file` nor `tls.ca_dir`, and for proxies in any case."
    ),
    (
      "SSLKEYLOGFILE, OPENSSL_CONF, OPENSSL_MODULES, OPENSSL_ENGINES, HOSTALIASES, RES_OPTIONS, LOCALDOMAIN",
      "`prefetch` ignores these variables: they would weaken connections or write session keys to a file. `~/.netrc` is read only with `network.netrc: true`. An entry goes to its host over https, or over http if `NSExceptionDomains` allows that; a header of a rule wins over it, and the entry `default` is ignored."
    ),
    (
      "NO_COLOR, CLICOLOR_FORCE, TERM, CI",
      "Decide on colour and progress if `--color` and `--progress` are `auto`."
    ),
  ]

  static let files = [
    "Without `--config` or `PREFETCH_CONFIG` the first existing file of this list is the configuration:"
  ]

  static let paths = [
    ("./prefetch.yaml", "Or `prefetch.yml`, `prefetch.json`, `prefetch.plist`, in this order."),
    ("./Info.plist", "If it has a `com.akamai` key."),
    ("~/.config/prefetch/config.yaml", "Or `config.json`, `config.plist`."),
    ("/etc/prefetch/config.yaml", "Or `config.json`, `config.plist`."),
    (
      "~/.cache/prefetch",
      "The content: bodies below `objects/`, the index, unfinished transfers. You may delete it at any time."
    ),
    ("~/.local/state/prefetch", "Subscriptions, quotas, past runs and waiting events."),
    (
      "~/.local/state/prefetch/logs",
      "Messages of runs, with those that `--quiet` hides and without those that only `-v` prints: a file a day and application, `YYYY-MM-DD_NAME.log`, kept for 14 days. NAME is the `bundle_id`, else the `name`, else `prefetch`. With `--log-file` no such file is written."
    ),
  ]

  static let exitStatus =
    "There is one status per decision that a caller has to take; the causes are in the report. If several apply, the first of these wins: a trust violation, local trouble, refusals, lost connectivity, missing content, deferrals."

  static let signals = [
    "After SIGINT or SIGTERM a run sends no further requests. It commits complete bodies, keeps parts of 64 KiB and more for the next run, and writes the report, all within two seconds. Unfinished items are `deferred`, not failed; one line says how much is left, and the status is 130 or 143. A second signal ends the process at once.",
    "Neither signals nor SIGKILL or a power cut damage the cache or the state: at most work in flight is lost. SIGPIPE is ignored.",
    "If another process holds the cache or the state, a command waits; after two seconds a line names the process, and says whether it is stopped. A run waits at most for `network.retries.wait`, not past its deadline, and then ends with 75 and the rule `lock`; other commands wait a minute. One signal ends the wait. Commands that only read do not wait for writers.",
  ]
}
