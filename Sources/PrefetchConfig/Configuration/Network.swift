package import PrefetchCore
import PrefetchDocuments

/// When, over what and how much at once is transferred.
package struct Network: Hashable, Sendable {
  package enum Allowed: String, Hashable, Sendable, CaseIterable {
    case ethernet
    case wifi
    case cellular
    case any
    case none
  }

  package enum MeteredUse: String, Hashable, Sendable, CaseIterable {
    case use
    case `defer`
  }

  package enum Power: String, Hashable, Sendable, CaseIterable {
    case any
    case ac
  }

  package enum HTTPVersion: String, Hashable, Sendable, CaseIterable {
    case auto
    case http1 = "1.1"
    case http2 = "2"
    case http3 = "3"
  }

  package var type: NetworkType?
  package var allow: [Allowed] = [.any]
  package var metered = MeteredUse.use
  package var unknownMetered = MeteredUse.use
  package var windows: [ClockWindow] = []
  package var timeZone = "local"
  package var power = Power.any
  package var batteryFloor = 0
  package var concurrency = 8
  package var perHost = 4
  package var rate = RateRule.unlimited
  package var ratePerHost = RateLimit.unlimited
  package var dailyLimit = TransferQuota()
  package var monthlyLimit = TransferQuota()
  package var http = HTTPVersion.auto
  package var proxy = Proxy.environment
  package var readsNetrc = false
  package var userAgent: String?
  package var probe: [String] = []
  package var retries = Retries()
  package var timeouts = Timeouts()
  package var quality = QualityRules()

  static let table = ObjectType(Self(), name: "network") {
    Field("type", \.type, .choice(), "Kind of network, for machines that cannot tell")
    Field("allow", \.allow, .list(of: .choice(), atLeast: 1), "Kinds of network to transfer over")
    Field(
      "metered",
      \.metered,
      .choice(),
      "Whether to transfer over a connection that costs by volume"
    )
    Field(
      "unknown_metered",
      \.unknownMetered,
      .choice(),
      "The same where nothing says whether it costs"
    )
    Field(
      "windows",
      \.windows,
      .list(of: .window),
      "Times of day and week in which transfers may run"
    )
    Field(
      "timezone",
      \.timeZone,
      .timeZone,
      "Time zone of `windows`, of a timetable of `rate` and of quota periods"
    )
    Field("power", \.power, .choice(), "Power source needed to transfer")
    Field(
      "battery_floor",
      \.batteryFloor,
      .integer(0...100),
      "Percent of charge below which nothing is transferred on battery"
    )
    Field(
      "concurrency",
      \.concurrency,
      .integer(1...1024).orUnlimited(1024),
      "Transfers in flight at once; `unlimited` is 1024"
    )
    Field("per_host", \.perHost, .integer(1...256), "HTTP/1.1 connections to one host at once")
    Field(
      "rate",
      \.rate,
      .rateRule,
      "Bytes a second, of all transfers together: one rate, or times from which each holds"
    )
    Field("rate_per_host", \.ratePerHost, .rateLimit, "Bytes a second from one host")
    Field("daily_limit", \.dailyLimit, TransferQuota.table, "Bytes a day, kept across runs")
    Field("monthly_limit", \.monthlyLimit, TransferQuota.table, "Bytes a month, kept across runs")
    Field("http", \.http, .choice(), "Version of HTTP to use")
    Field("proxy", \.proxy, .proxy, "Proxy for every request; `env` obeys the usual variables")
    Field("netrc", \.readsNetrc, .boolean, "Whether to take credentials from `~/.netrc`")
    Field("user_agent", \.userAgent, .text.singleLine, "Value of the `User-Agent` header")
    Field(
      "probe",
      \.probe,
      .list(of: .program),
      "Command that prints what kind of network there is"
    )
    Field("retries", \.retries, Retries.table, "How often and how patiently to try again")
    Field("timeouts", \.timeouts, Timeouts.table, "How long to wait")
    Field("quality", \.quality, QualityRules.table, "What to do as the measured throughput falls")
  }
}

extension ValueType where Value == Duration {
  var positive: Self {
    checked { value, node, decoder in
      guard value <= .zero else { return }
      decoder.report(
        "config.bad-value",
        "`\(decoder.lastKey)` must be longer than nothing",
        at: node
      )
    }
  }
}

extension ValueType where Value == String {
  /// For what becomes part of a request.
  var singleLine: Self {
    checked { value, node, decoder in
      guard value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
        return
      }
      decoder.report(
        "config.bad-value",
        "`\(decoder.lastKey)` holds a line break or control character",
        at: node
      )
    }
  }
}
