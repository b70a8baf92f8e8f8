enum ManualProse {
  static let description = [
    "`prefetch` is run by cron, in CI or in a pipeline. It reads one declarative configuration, finds out what every subscribed segment should hold, compares that with a local cache, and makes the cache equal to the declaration: it fetches what is missing, revalidates what is stale, keeps what is current, and removes what it declared before and does not declare any more.",
    "The first word that is not an option is the command; without one, `prefetch` means `prefetch run`. Options may stand before and after the command and its operands; `--` ends them. Of an option that takes one value and is given several times, the last one counts.",
    "Standard output carries the result only: the report, the plan, the list, the body. With `--json` it is exactly one JSON document, also for errors. Progress, warnings and errors go to standard error. When standard output is closed early, commands that read end quietly with 0, and `run` finishes its work; when it is full, the status is 74.",
    "On a terminal, standard error has a block of lines during a run: for each segment how much of it is done, the rate, the time that is left, or what it waits for; for large files a line of their own; where there are more segments than rows, their number. It is drawn over at most ten times a second, follows the size of the window, and is gone at the end. With `--progress always` logs get a few plain lines instead. The text report breaks its lines at the width of a terminal and shortens URLs there in the middle; in files and pipes every line is whole.",
    "With `-v` standard error tells of every item and manifest as it ends, of every request that fails, with the address, the TLS version, the certificate's names and the time that each part took, and of what is waited for; with `-vv` of every request, with both heads. Credentials are masked. With `--log-format json` each line is an object with `time`, `level` (`debug`, `info`, `warning`, `error`), `run` (null outside of runs) and `message`, and where it is known `code`, `hint`, `url`, `segment`, `path`, `file`, `line` and `column`.",
    "Durations are written `90s`, `5m`, `2h` or `7d`; a bare number is seconds.",
  ]

  static let environment = [
    "Every long option but `--help`, `--version` and `--set` may be given as a variable: `PREFETCH_`, then its name in capitals, with underscores for dashes. Switches take 1, true, yes, on, or 0, false, no, off; options that may be repeated take one value a line. `PREFETCH_VERBOSE` takes 2 as well, `PREFETCH_WAIT` and `PREFETCH_MAX_STALE` a duration, or true for the option without one. An empty variable counts as unset, and so does one for an option that the command does not have.",
    "An option on the command line wins over its variable, and the variable wins over the configuration.",
  ]

  static let variables = [
    ("PREFETCH_LICENSE", "The license key; it has no option, so that no process list shows it."),
    (
      "CACHE_DIRECTORY",
      "Where the content is kept unless an option or the configuration says otherwise, as systemd sets it."
    ),
    ("STATE_DIRECTORY", "Where subscriptions, quotas and past runs are kept, likewise."),
    (
      "XDG_CACHE_HOME",
      "The folder that holds `prefetch/` where no cache directory is set; `~/.cache` when unset."
    ),
    (
      "XDG_STATE_HOME",
      "The folder that holds `prefetch/` where no state directory is set; `~/.local/state` when unset."
    ),
    ("XDG_CONFIG_HOME", "The folder that holds `prefetch/config.yaml`; `~/.config` when unset."),
    (
      "http_proxy, https_proxy, all_proxy, no_proxy",
      "The proxies to use if `network.proxy` is not set, or is `env`; `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` too. `tls.pins` and `tls.ca_file` do not apply to a proxy: the system's CAs must trust an https proxy."
    ),
    (
      "SSL_CERT_FILE, SSL_CERT_DIR",
      "The certificates to trust where the configuration has neither `tls.ca_file` nor `tls.ca_dir`, and for proxies in any case."
    ),
    (
      "SSLKEYLOGFILE, OPENSSL_CONF, OPENSSL_MODULES, OPENSSL_ENGINES, HOSTALIASES, RES_OPTIONS, LOCALDOMAIN",
      "Without effect, since they would weaken connections or write their keys down. `~/.netrc` is read only with `network.netrc: true`. An entry goes to its host over https, or over http if `NSExceptionDomains` allows that; a header of a rule wins over it, and the entry `default` is ignored."
    ),
    (
      "NO_COLOR, CLICOLOR_FORCE, TERM, CI",
      "Decide on colour and progress where `--color` and `--progress` are `auto`."
    ),
  ]

  static let files = [
    "Without `--config` or `PREFETCH_CONFIG` the first of these that exists is the configuration:"
  ]

  static let paths = [
    ("./prefetch.yaml", "Or `prefetch.yml`, `prefetch.json`, `prefetch.plist`, in this order."),
    ("./Info.plist", "When it has a `com.akamai` key."),
    ("~/.config/prefetch/config.yaml", "Or `config.json`, `config.plist`."),
    ("/etc/prefetch/config.yaml", "Or `config.json`, `config.plist`."),
    (
      "~/.cache/prefetch",
      "The content: bodies below `objects/`, the index, unfinished transfers. It may be deleted at any time."
    ),
    ("~/.local/state/prefetch", "Subscriptions, quotas, past runs and events that wait."),
    (
      "~/.local/state/prefetch/logs",
      "What runs had to say, also what `--quiet` hides, and without what only `-v` tells: a file a day and application, `YYYY-MM-DD_NAME.log`, kept for 14 days. NAME is the `bundle_id`, else the `name`, else `prefetch`; with `--log-file` there is none."
    ),
  ]

  static let exitStatus =
    "There is one status per decision that a caller has to take; the causes are in the report. Where several would apply, a trust violation wins over local trouble, refusals, lost connectivity, missing content, and deferrals, in this order."

  static let signals = [
    "After SIGINT or SIGTERM no further requests are sent for: what is whole is committed, parts of 64 KiB and more are kept for the next run to go on with, and the report is written, all within two seconds. What did not finish is `deferred`, not failed; one line says how much of it is left, and the status is 130 or 143. A second signal ends the process at once.",
    "Neither that nor SIGKILL or a power cut damages the cache or the state: at most work in flight is lost. SIGPIPE is ignored.",
    "Another process that has the cache or the state is waited for: after two seconds a line names it, and whether it is stopped. A run waits no longer than `network.retries.wait`, nor past its deadline, and then ends with 75 and the rule `lock`; other commands wait a minute. One signal ends the wait. Commands that only read do not wait for the turn to write.",
  ]
}
