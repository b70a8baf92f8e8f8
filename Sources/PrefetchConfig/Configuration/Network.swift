import PrefetchCore
import PrefetchDocuments

/// The kind of connection the machine has.
package enum NetworkType: String, Hashable, Sendable, CaseIterable {
  case ethernet
  case wifi
  case cellular
}

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
  package var rate = RateLimit.unlimited
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
    Field("type", \.type, .choice(), "Kind of network, for machines that cannot tell").later
    Field("allow", \.allow, .list(of: .choice(), atLeast: 1), "Kinds of network to transfer over")
      .later
    Field(
      "metered",
      \.metered,
      .choice(),
      "Whether to transfer over a connection that costs by volume"
    ).later
    Field(
      "unknown_metered",
      \.unknownMetered,
      .choice(),
      "The same where nothing says whether it costs"
    ).later
    Field(
      "windows",
      \.windows,
      .list(of: .window),
      "Times of day and week in which transfers may run"
    ).later
    Field("timezone", \.timeZone, .timeZone, "Time zone of `windows` and of quota periods").later
    Field("power", \.power, .choice(), "Power source needed to transfer").later
    Field(
      "battery_floor",
      \.batteryFloor,
      .integer(0...100),
      "Percent of charge below which nothing is transferred"
    ).later
    Field("concurrency", \.concurrency, .integer(1...1024), "Transfers in flight at once")
    Field("per_host", \.perHost, .integer(1...256), "HTTP/1.1 connections to one host at once")
    Field("rate", \.rate, .rateLimit, "Bytes a second, of all transfers together").later
    Field("rate_per_host", \.ratePerHost, .rateLimit, "Bytes a second from one host").later
    Field("daily_limit", \.dailyLimit, TransferQuota.table, "Bytes a day, kept across runs").later
    Field("monthly_limit", \.monthlyLimit, TransferQuota.table, "Bytes a month, kept across runs")
      .later
    Field("http", \.http, .choice(), "Version of HTTP to use")
    Field("proxy", \.proxy, .proxy, "Proxy for every request; `env` obeys the usual variables")
    Field("netrc", \.readsNetrc, .boolean, "Whether to take credentials from `~/.netrc`").later
    Field("user_agent", \.userAgent, .text.singleLine, "Value of the `User-Agent` header")
    Field(
      "probe",
      \.probe,
      .list(of: .program),
      "Command that prints what kind of network there is"
    ).later
    Field("retries", \.retries, Retries.table, "How often and how patiently to try again")
    Field("timeouts", \.timeouts, Timeouts.table, "How long to wait")
    Field("quality", \.quality, QualityRules.table, "What to do as the measured throughput falls")
      .later
  }
}

/// A budget of bytes for a period, as a whole and by kind of network.
package struct TransferQuota: Hashable, Sendable {
  package var any = ByteLimit.unlimited
  package var ethernet: ByteLimit?
  package var wifi: ByteLimit?
  package var cellular: ByteLimit?

  static let table = ObjectType(Self(), name: "quota", shorthand: "any") {
    Field("any", \.any, .sizeLimit, "Bytes over all networks without a limit of their own")
    Field("ethernet", \.ethernet, .sizeLimit, "Bytes over a cable")
    Field("wifi", \.wifi, .sizeLimit, "Bytes over a wireless network")
    Field("cellular", \.cellular, .sizeLimit, "Bytes over a cellular network")
  }
}

/// How often and how patiently a request is repeated.
package struct Retries: Hashable, Sendable {
  package var items = 3
  package var lookups = 3
  package var delay = Duration.seconds(1)
  package var maximumDelay = Duration.seconds(30)
  package var wait = Duration.seconds(120)

  static let table = ObjectType(Self(), name: "retries") {
    Field("items", \.items, .integer(0...100), "Further tries of a failed transfer")
    Field("lookups", \.lookups, .integer(0...100), "Further tries of a failed name look-up")
    Field("delay", \.delay, .duration, "Longest pause before the first further try")
    Field("max_delay", \.maximumDelay, .duration, "Longest pause before any further try")
    Field("wait", \.wait, .duration, "Longest `Retry-After` to wait for within a run").later
  }
  .checking { retries, facts, decoder in
    guard retries.delay > retries.maximumDelay else { return }
    decoder.report(
      "config.bad-value",
      "`delay` is longer than `max_delay`",
      at: facts.place(of: "delay")
    )
  }
}

/// How long each part of the work may take.
package struct Timeouts: Hashable, Sendable {
  package var connect = Duration.seconds(10)
  package var read = Duration.seconds(30)
  package var item = Limit<Duration>.unlimited
  package var run = Limit<Duration>.unlimited

  static let table = ObjectType(Self(), name: "timeouts") {
    Field("connect", \.connect, .duration.positive, "To look up, connect and shake hands")
    Field("read", \.read, .duration.positive, "Without a byte before a transfer counts as stalled")
    Field("item", \.item, .timeLimit, "For one transfer of an item, however steadily it arrives")
    Field("run", \.run, .timeLimit, "For the whole run; what is left is deferred")
  }
}

/// What a measured throughput means.
package struct QualityRules: Hashable, Sendable {
  package enum Level: String, Hashable, Sendable, CaseIterable {
    case poor
    case good
    case excellent
    case unknown
  }

  package enum Reaction: String, Hashable, Sendable, CaseIterable {
    case go
    case throttle
    case stop
  }

  package var good: Int64?
  package var excellent: Int64?
  package var on: [String: Reaction] = [:]

  package func reaction(to level: Level) -> Reaction {
    on[level.rawValue] ?? .go
  }

  static let table = ObjectType(Self(), name: "quality") {
    Field("good", \.good, .rate, "Throughput from which the network is good")
    Field("excellent", \.excellent, .rate, "Throughput from which the network is excellent")
    Field(
      "on",
      \.on,
      .map(of: .oneOf("quality", Level.allCases.map(\.rawValue)), to: .choice()),
      "What to do at each quality; `go` where nothing is said"
    )
  }
  .checking { rules, facts, decoder in
    guard let good = rules.good, let excellent = rules.excellent, good > excellent else { return }
    decoder.report(
      "config.bad-value",
      "`good` is faster than `excellent`",
      at: facts.place(of: "good")
    )
  }
}

/// What one segment or item asks of the network beyond what holds for all; it can only narrow that.
package struct NetworkRules: Hashable, Sendable {
  package var allow: [Network.Allowed]?
  package var metered: Network.MeteredUse?
  package var unknownMetered: Network.MeteredUse?
  package var windows: [ClockWindow]?
  package var timeZone: String?
  package var power: Network.Power?
  package var batteryFloor: Int?
  package var concurrency: Int?
  package var perHost: Int?
  package var rate: RateLimit?
  package var dailyLimit: TransferQuota?
  package var monthlyLimit: TransferQuota?
  package var quality: QualityRules?

  static let table = ObjectType(Self(), name: "network_rules") {
    Field("allow", \.allow, .list(of: .choice(), atLeast: 1), "Kinds of network to transfer over")
    Field(
      "metered",
      \.metered,
      .meteredUse,
      "Whether to transfer over a connection that costs by volume"
    )
    Field(
      "unknown_metered",
      \.unknownMetered,
      .meteredUse,
      "The same where nothing says whether it costs"
    )
    Field(
      "windows",
      \.windows,
      .list(of: .window),
      "Times of day and week in which transfers may run"
    )
    Field("timezone", \.timeZone, .timeZone, "Time zone of `windows`")
    Field("power", \.power, .choice(), "Power source needed to transfer")
    Field(
      "battery_floor",
      \.batteryFloor,
      .integer(0...100),
      "Percent of charge below which nothing is transferred"
    )
    Field("concurrency", \.concurrency, .integer(1...1024), "Transfers in flight at once")
    Field("per_host", \.perHost, .integer(1...256), "Connections to one host at once")
    Field("rate", \.rate, .rateLimit, "Bytes a second")
    Field("daily_limit", \.dailyLimit, TransferQuota.table, "Bytes a day")
    Field("monthly_limit", \.monthlyLimit, TransferQuota.table, "Bytes a month")
    Field("quality", \.quality, QualityRules.table, "What to do as the measured throughput falls")
  }
}

extension ValueType where Value == Network.MeteredUse {
  /// `use` or `defer`; manifests also write `true` and `false`.
  static var meteredUse: Self {
    let type = ValueType<Network.MeteredUse>.choice()
    return Self(
      shape: type.shape,
      decode: { node, decoder in
        if let scalar = node.scalar, scalar.kind != .string,
          let isUsed = Booleans.strictValue(of: scalar.text)
        {
          return isUsed ? .use : .defer
        }
        return type.decode(node, &decoder)
      },
      encode: type.encode
    )
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
