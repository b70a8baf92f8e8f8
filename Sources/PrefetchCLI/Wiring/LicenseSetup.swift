import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import PrefetchSystem

/// License and registration endpoint of a configuration.
struct LicenseSetup {
  let url: WebURL
  let key: Secret
  let bundleID: String?
  let rule: RegistrationRule
  let stateKey: RegistrationKey

  /// Returns nil if nothing is to be registered, so that the key is never sent.
  init?(
    _ loaded: LoadedConfiguration,
    network: @autoclosure () -> String? = NetworkMark.read()
  ) {
    let configuration = loaded.configuration
    guard let url = configuration.registration.url, let key = configuration.license,
      !key.value.isEmpty
    else { return nil }
    self.url = url
    self.key = key
    bundleID = configuration.bundleID
    rule = RegistrationRule(
      retry: configuration.registration.retry,
      bundleID: configuration.bundleID,
      network: network()
    )
    stateKey = RegistrationKey(
      licenseFingerprint: Self.fingerprint(of: key),
      url: url.string
    )
  }

  /// Returns a one-way hash that identifies the license in stored data.
  static func fingerprint(of license: Secret?) -> String {
    let text = license.map { "prefetch license\n\($0.value)" } ?? "prefetch no license"
    return SHA256.digest(of: text).hexadecimal
  }

  /// Returns problems that need no request; `allowsUnset` tolerates an unset license.
  static func diagnostics(_ loaded: LoadedConfiguration, allowsUnset: Bool = false) -> [Diagnostic]
  {
    guard let url = loaded.configuration.registration.url else { return [] }
    var diagnostics: [Diagnostic] = []
    if !allowsUnset, loaded.configuration.license?.value.isEmpty ?? true {
      diagnostics.append(
        loaded.diagnostic(
          "config.no-license",
          "`registration.url` is set, and there is no license to register",
          hint: "set `PREFETCH_LICENSE`, or `license: ${file:PATH}`",
          at: ValuePath([.key("registration"), .key("url")])
        )
      )
    }
    if url.scheme == .http, !url.isOnThisMachine {
      diagnostics.append(
        loaded.diagnostic(
          "config.license-in-clear",
          "plain http to `\(url.host)` exposes the license",
          severity: .warning,
          hint: "use an https address",
          at: ValuePath([.key("registration"), .key("url")])
        )
      )
    }
    return diagnostics
  }
}

extension WebURL {
  var isOnThisMachine: Bool {
    host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
  }
}

/// Route to the network; a change of it justifies a new attempt.
enum NetworkMark {
  /// Returns interface and gateway of the default route; nil if there is none.
  static func read() -> String? {
    guard let bytes = try? FileReading.read("/proc/net/route", limit: 1 << 20) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst()
    let routes = lines.compactMap { line -> String? in
      let fields = line.split { $0 == "\t" || $0 == " " }
      guard fields.count > 2, fields[1] == "00000000" else { return nil }
      return "\(fields[0]) \(fields[2])"
    }
    return routes.min()
  }
}
