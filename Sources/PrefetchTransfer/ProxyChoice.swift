internal import PrefetchCore

/// Which proxy stands before a URL, in the two words that libcurl wants.
///
/// Both are always given, since libcurl reads the environment by itself for whatever is left open.
struct ProxyChoice: Hashable, Sendable {
  /// Empty for a direct connection.
  var url: String
  var exceptions: String

  init(_ setting: TransportSettings.Proxy, scheme: WebURL.Scheme) {
    switch setting {
    case .none:
      self.init(url: "", exceptions: "*")
    case .url(let url):
      self.init(url: url.value, exceptions: "")
    case .environment(let http, let https, let exceptions):
      let url = scheme == .http ? http : https
      self.init(url: url ?? "", exceptions: exceptions ?? "")
    }
  }

  /// Whether we speak to the proxy itself over TLS.
  var isEncrypted: Bool {
    url.prefix(8).lowercased() == "https://"
  }

  /// Whether it stands before a host.
  func isBefore(_ host: String) -> Bool {
    !url.isEmpty && !ProxyExceptions(exceptions).contain(host)
  }

  private init(url: String, exceptions: String) {
    self.url = url
    self.exceptions = exceptions
  }
}
