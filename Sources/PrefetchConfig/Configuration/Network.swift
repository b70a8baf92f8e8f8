package import PrefetchCore
import PrefetchDocuments

/// Network settings whose meaning depends on the machine.
package struct Network: Sendable {
  package var type: NetworkType?
  package var rules = NetworkRules.standard
  package var rate = RateRule.unlimited
  package var readsNetrc = false
  package var userAgent: String?
  package var probe: [String] = []
}

extension Configuration {
  static let networkTable = ObjectType(Self(), name: "network") {
    conditionFields
    amountFields
    requestFields
    Field("quality", \.network.rules.quality, QualityPolicy.table)
      .help("What to do when the measured throughput falls")
  }

  @FieldBuilder<Self> private static var conditionFields: [Field<Self>] {
    Field("type", \.network.type, .choice())
      .help("Kind of network, for machines that cannot detect it")
    Field("allow", \.network.rules.allow, .list(of: .choice(), atLeast: 1))
      .help("Kinds of network to transfer over")
    Field("metered", \.network.rules.defersMetered, .metered)
      .help("Whether to transfer over a network that costs by volume")
    Field("unknown_metered", \.network.rules.defersUnknownMetered, .metered)
      .help("The same if the cost of the network is unknown")
    Field("windows", \.network.rules.windows, .list(of: .window))
      .help("Times of day and week when transfers may run")
    Field("timezone", \.network.rules.timeZone, .timeZone)
      .help("Time zone of `windows`, of a `rate` timetable and of limit periods")
    Field("power", \.network.rules.needsMains, .power).help("Power source that transfers need")
    Field("battery_floor", \.network.rules.batteryFloor, .integer(0...100))
      .help("Battery charge in percent below which transfers wait")
  }

  @FieldBuilder<Self> private static var amountFields: [Field<Self>] {
    Field("concurrency", \.policy.concurrency, .integer(1...1024).orUnlimited(1024))
      .help("Most transfers in flight at once; `unlimited` is 1024")
    Field("per_host", \.policy.perHost, .integer(1...256))
      .help(
        """
        Most HTTP/1.1 connections to one host at once, used from the start; without it a run finds \
        their number, up to 16, and to a host nearby up to 6
        """
      )
    Field("rate", \.network.rate, .rateRule)
      .help("Most bytes a second for all transfers: one rate, or a timetable")
    Field("rate_per_host", \.settings.ratePerHost, .rateBound)
      .help("Most bytes a second from one host")
    Field("daily_limit", \.network.rules.dailyLimit, ByteBudget.daily)
      .help("Most bytes a day, counted across runs")
    Field("monthly_limit", \.network.rules.monthlyLimit, ByteBudget.monthly)
      .help("Most bytes a month, counted across runs")
  }

  @FieldBuilder<Self> private static var requestFields: [Field<Self>] {
    Field("http", \.settings.httpVersion, .choice())
      .help(
        """
        Highest version of HTTP to use; for a day, a host whose HTTP/3 failed gets HTTP/2; a host whose \
        HTTP/2 bodies ended without a known length gets HTTP/1.1 for URLs without a declared size or \
        digest
        """
      )
    Field("proxy", \.settings.proxy, .proxy)
      .help(
        "Proxy for all requests: `http://[USER:PASSWORD@]HOST:PORT`, or `env` for `https_proxy`"
      )
    Field("netrc", \.network.readsNetrc, .boolean)
      .help("Whether to take credentials from `~/.netrc`")
    Field("user_agent", \.network.userAgent, .text.singleLine)
      .help("Value of the `User-Agent` header")
    Field("probe", \.network.probe, .list(of: .program))
      .help("Command that prints the kind of network")
    Field("retries", \.policy.retries, RetryPolicy.table)
      .help("Retries of failed requests")
    Field("timeouts", \.self, timeouts).help("Timeouts")
  }
}

package enum RateRule: Hashable, Sendable {
  case unlimited
  case steady(Int64)
  case timetable(RateTimetable)

  fileprivate init(limit: Int64) {
    self = limit == .max ? .unlimited : .steady(limit)
  }

  /// Returns the rate over time; only a timetable needs a time zone.
  package func schedule(zone: () -> TimeZoneRules) -> RateSchedule? {
    switch self {
    case .unlimited: nil
    case .steady(let rate): .steady(rate)
    case .timetable(let timetable): RateSchedule(timetable, zone: zone())
    }
  }
}

extension ValueType where Value == RateRule {
  fileprivate static var rateRule: Self {
    scalar(
      "a rate, `unlimited` or a timetable such as `08:00 2MB/s, 18:00 unlimited`",
      summary: "rate|unlimited|timetable",
      schema: .rateRule
    ) { text throws(ValueComplaint) in
      guard text.contains(":") || text.contains(",") else {
        return try RateRule(limit: Units.rateLimit(text))
      }
      let lines: [RateTimetable.WrittenChange]
      do throws(ClockWindow.Malformed) {
        lines = try RateTimetable.lines(text)
      } catch {
        throw ValueComplaint(error.message, hint: error.hint, code: "config.bad-clock")
      }
      var entries: [RateTimetable.Change] = []
      for line in lines {
        var entry = line.entry
        let rate = try Units.rateLimit(line.rate)
        entry.rate = rate == .max ? nil : rate
        entries.append(entry)
      }
      return .timetable(RateTimetable(entries))
    } encode: {
      switch $0 {
      case .unlimited: .string("unlimited")
      case .steady(let rate): .integer(rate)
      case .timetable(let timetable): .string(timetable.description)
      }
    }
  }
}
