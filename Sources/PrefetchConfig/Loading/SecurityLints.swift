package import PrefetchCore

extension LoadedConfiguration {
  package var securityLints: [Diagnostic] {
    lints + pinUnions + deepExceptions + deepPins
  }

  /// Items with `seconds` that are no streams and would be fetched whole.
  package var pointlessSeconds: [Diagnostic] {
    configuration.segments.enumerated().flatMap { index, segment in
      segment.urls.map(\.item).enumerated().compactMap { number, item -> Diagnostic? in
        guard item.seconds != nil, item.type != "hls" else { return nil }
        let steps: [ValuePath.Step] = [
          .key("segments"), .index(index), .key("urls"), .index(number), .key("seconds"),
        ]
        return diagnostic(
          "config.not-a-stream",
          "`seconds` is for streams, and the item is of type `\(item.type ?? "file")`",
          severity: .error,
          hint: "`type: hls` makes it one",
          at: ValuePath(steps)
        )
      }
    }
  }

  /// Hosts with two pin entries, either of which is sufficient.
  private var pinUnions: [Diagnostic] {
    let pins = configuration.pins
    return pins.keys.sorted().compactMap { host in
      guard IPAddress(host) == nil, let dot = host.firstIndex(of: ".") else { return nil }
      let parent = String(host[host.index(after: dot)...])
      guard let above = pins[parent], above.includesSubdomains,
        above.onlyReports == pins[host]?.onlyReports
      else { return nil }
      return diagnostic(
        "config.pin-union",
        "the pins for `\(host)` and for `\(parent)` with its subdomains add up; either's keys are "
          + "accepted from `\(host)`",
        severity: .warning,
        at: ValuePath([.key("tls"), .key("pins"), .key(host)])
      )
    }
  }

  /// Exceptions for deep subdomains: the platform documents one label, but accepts any number.
  private var deepExceptions: [Diagnostic] {
    let table = configuration.transportSecurity.effective.exceptions
    return namedHosts.compactMap { host in
      guard let (name, _) = table.entry(for: host), Self.labels(of: host, above: name) > 1 else {
        return nil
      }
      return diagnostic(
        "config.deep-subdomain",
        "the exception for `\(name)` holds for `\(host)` too, which is more than one label below",
        severity: .warning,
        hint: "give `\(host)` an entry of its own if that was not meant",
        at: ValuePath([.key("transport_security"), .key("NSExceptionDomains"), .key(name)])
      )
    }
  }

  /// Hosts more than one label below a pinned name, which the pins do not cover.
  private var deepPins: [Diagnostic] {
    let pins = configuration.pins
    let table = configuration.pinTable
    return namedHosts.compactMap { host in
      guard IPAddress(host: host) == nil, table.entries(for: host).isEmpty else { return nil }
      let above = pins.filter { name, pin in
        pin.includesSubdomains && host.hasSuffix(".\(name)")
      }
      guard let name = above.keys.max(by: { $0.utf8.count < $1.utf8.count }) else { return nil }
      return diagnostic(
        "config.pin-too-high",
        "the pin for `\(name)` does not hold for `\(host)`, which is more than one label below",
        severity: .warning,
        hint: "give `\(host)` a pin of its own",
        at: ValuePath([.key("tls"), .key("pins"), .key(name)])
      )
    }
  }

  private var namedHosts: [String] {
    Set(configuration.namedURLs.map(\.host)).sorted()
  }

  private static func labels(of host: String, above name: String) -> Int {
    guard IPAddress(host: host) == nil else { return 0 }
    return host.split(separator: ".").count - name.split(separator: ".").count
  }
}
