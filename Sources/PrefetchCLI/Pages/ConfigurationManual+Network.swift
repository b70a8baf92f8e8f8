extension ConfigurationManual {
  static let networkRules = ConfigurationProse(
    title: "Network rules",
    paragraphs: [
      "If `network` forbids a transfer now, the run defers it and ends with 75; for a deferred segment it requests nothing, not even the manifest. The report names the rule and, if known, when it ends. Transfers in flight when a rule begins to hold are completed. Rules are `allow`, `metered`, `power`, `windows`, the limits and `quality`. `network` of a segment, a manifest or an item can only narrow them: kinds of network and windows are intersected, and of other keys the stricter value holds. A rule that is not set is not checked and starts no program. `prefetch network` shows the network, and what each rule decides.",
      "The kind of network is that of the default route. Wireless devices and modems report their kind, a bridge has the kind of the device below it, and everything else is `ethernet`. Without a default route the kind is unknown, and only `allow: [any]` lets it pass. `--network TYPE[,metered]` states the kind for one run, `network.type` for a machine. `network.probe` is a command, started without a shell and without the license. Within five seconds it prints words such as `wifi`, `wifi,metered`, `ethernet battery 40%` or `unknown`; the run detects what the command leaves out. If nothing states whether the network costs by volume, the run asks `busctl` or `nmcli`, if installed; if they cannot tell, `unknown_metered` decides. A machine without a battery runs on mains. `battery_floor` applies only on battery.",
      "Windows follow the clock of `timezone`: `local` is `$TZ`, else that of the system. A window is open whenever that clock shows a time in it, so an hour that the clock skips is missing, and an hour that comes twice counts twice. A window past midnight belongs to the day on which it begins. Several windows add up.",
      "`retries` decides how a run retries requests after 408, 425, 429, 500, 502, 503, 504, resets, stalls and short bodies, with random delays from `delay` to `max_delay`. A `Retry-After` holds for the whole host; if it is longer than `retries.wait`, its items are deferred (`retry_after`). An item that ends in `dns` or `connect` closes its host for the rest of the run. If five items in a row end in resets, stalls or 5xx, the run pauses the host for 60 seconds, and one line says so. Then one item tries, and each further failure doubles the time, up to 300 seconds. Items of the host wait, or are deferred (`breaker`) if the pause is longer than `retries.wait` or passes the deadline; other hosts continue.",
      "`daily_limit` and `monthly_limit` count received bytes, headers included, across runs and configurations with the same state directory, until midnight or the first of the month by `timezone`. If limits are given by kind of network, each kind with its own limit counts for itself, and `any` for all others together. A limit of a segment counts that segment alone. A run starts only as many transfers as the rest of the limit can hold, so that some end in each period. When a limit is reached, the run interrupts transfers and keeps their parts, however small; it continues in the next period. A little more than the limit may arrive, also because simultaneous runs learn of each other's bytes late. A body that no period can hold and that cannot be resumed is `too_large`. A dry run obeys limits and counts for none.",
      "`rate` is one rate, or a timetable: `08:00 2MB/s, 18:00 unlimited`, or with days `mon-fri 08:00 2MB/s, mon-fri 18:00 unlimited, sat,sun 00:00 unlimited`. Each rate holds until the next one begins, the last of a week into the next week, by the clock of `timezone`. A run in progress adopts a new rate within a second.",
      "`quality` is measured on bodies of at least 64 KiB in the last quarter of an hour: all their bytes over the time in which any was in flight. Below `good` the network is poor, from `excellent` on excellent. It is also poor if half of the last answers, of at least three, took more than two seconds to begin. `throttle` allows two transfers at once. `stop` holds until the measurement is too old, because a stopped run measures nothing.",
    ],
    example: """
      network:
        metered: defer
        windows: ["22:00-06:00", "sat,sun 00:00-24:00"]
        timezone: Europe/Berlin
        daily_limit: { cellular: 50MB, any: 2GB }
        quality: { good: 1MB/s, on: { poor: stop } }
      segments:
        - name: films
          manifest: https://cdn.example.com/films.json
          network: { allow: [ethernet], power: ac }
      """
  )
}
