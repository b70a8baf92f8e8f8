internal import PrefetchCore

/// libcurl's two proxy options, always set: libcurl reads the environment for options that are not.
struct ProxyChoice: Hashable, Sendable {
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

  var isEncrypted: Bool {
    url.prefix(8).lowercased() == "https://"
  }

  func isBefore(_ host: String) -> Bool {
    !url.isEmpty && !ProxyExceptions(exceptions).contain(host)
  }

  private init(url: String, exceptions: String) {
    self.url = url
    self.exceptions = exceptions
  }
}
