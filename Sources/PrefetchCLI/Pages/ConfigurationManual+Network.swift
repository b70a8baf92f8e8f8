extension ConfigurationManual {
  static let networkRules = ConfigurationProse(
    title: "Network rules",
    paragraphs: [
      "What `network` does not allow now is deferred, not failed: nothing of it is asked, its manifest included, the report names the rule and, where that is known, until when, and the run ends with 75. Transfers in flight when a rule begins to hold are completed. Rules are `allow`, `metered`, `power`, `windows`, the limits and `quality`. `network` of a segment, of a manifest and of an item can only narrow them: kinds of network and windows are cut, of everything else the stricter holds. A rule that is not set is not looked into, and no program is asked for it. `prefetch network` shows what is seen, and what each rule makes of it.",
      "The kind of network is that of the default route: what is wireless or a modem says so, a bridge is what it goes over, everything else is `ethernet`, and without a default route it is unknown, which only `allow: [any]` lets pass. `--network TYPE[,metered]` states it for one run, `network.type` for a machine. `network.probe` is a command, started without a shell and without the license, that prints words such as `wifi`, `wifi,metered`, `ethernet battery 40%` or `unknown` within five seconds; what it leaves out the machine is asked. Where it is not stated, `busctl` or `nmcli` tell whether the network costs by volume, if one of them is there, and `unknown_metered` decides where they do not know. A machine without a battery runs on mains. `battery_floor` holds on battery only.",
      "Windows go by the clock of `timezone`: `local` is that of `$TZ`, else of the system. They are open whenever that clock shows a time in them, so an hour that the clock skips is missing from them, and one that comes twice counts twice. One past midnight belongs to the day it begins on; several are joined.",
      "Requests are retried by `retries`: after 408, 425, 429, 500, 502, 503, 504, resets, stalls and short bodies, with random delays from `delay` to `max_delay`. A `Retry-After` holds for the whole host; one that is longer than `retries.wait` defers what it concerns (`retry_after`). An item that ends in `dns` or `connect` closes its host for the rest of the run. After five items in a row that end in resets, stalls or 5xx, the host is left alone for 60 seconds, and one line says so; then one item tries, and each further failure doubles the time, up to 300 seconds. Items of the host wait for that time, or are deferred (`breaker`) where it is longer than `retries.wait` or passes the deadline; other hosts go on.",
      "`daily_limit` and `monthly_limit` count what arrives, headers included, across runs and configurations with the same state directory, until midnight or the first of the month by `timezone`. Given by kind of network, a kind with a limit of its own counts for itself, and `any` for all others together. A limit of a segment counts that segment alone. Only as many transfers begin as what is left can hold, so that some of them end in each period. When a limit is met, what is in flight is broken off and its part kept, however small, so a little more may have come; a body that no period can hold and that cannot be continued is `too_large`; runs that are at work at once hear of each other's bytes as they are booked, the less is left the sooner, and pass it by a little as well. It continues when the period turns. A dry run is bound by limits and counts for none.",
      "`rate` is one for all, or a timetable: `08:00 2MB/s, 18:00 unlimited`, or with days `mon-fri 08:00 2MB/s, mon-fri 18:00 unlimited, sat,sun 00:00 unlimited`. Each rate holds from its time on until the next one begins, the last of the week into the next, by the clock of `timezone`; a run that is going on when one begins follows it within a second.",
      "`quality` is measured by the bodies of at least 64 KiB of the last quarter of an hour, all bytes over the time in which any was on its way, from the request on: below `good` it is poor, from `excellent` on excellent. It is poor as well when of the last answers, three at least, half took more than two seconds to begin. `throttle` lets two transfers run at once. `stop` holds until the measurement is too old, since nothing new is measured meanwhile.",
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
