/// Settings of requests that match a pattern; the first matching rule counts.
package struct TransportRule: Hashable, Sendable {
  package enum Method: String, Hashable, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"

    package init(_ method: TransferRequest.Method) {
      switch method {
      case .get: self = .get
      case .head: self = .head
      case .post: self = .post
      case .put: self = .put
      }
    }
  }

  package var url: URLPattern?
  package var method: Method?
  package var proxy: TransportSettings.Proxy?
  package var httpVersion: TransportSettings.HTTPVersion?
  package var headers: [HeaderField] = []
  /// Fields with the license, for manifests at their own origin only.
  package var manifestHeaders: [HeaderField] = []

  package init(url: URLPattern? = nil, method: Method? = nil) {
    self.url = url
    self.method = method
  }

  package func matches(_ url: WebURL, method: TransferRequest.Method) -> Bool {
    if let wanted = self.method, wanted != Method(method) { return false }
    return self.url?.matches(url) ?? true
  }

  /// Returns the fields that the rule adds; after a redirect or at an alternate (`isFirstOrigin`
  /// false) only if its pattern names its hosts, since `**` must not give them to any host.
  package func headers(for purpose: RequestPurpose, isFirstOrigin: Bool) -> [HeaderField] {
    guard isFirstOrigin else { return url?.namesItsHosts == true ? headers : [] }
    return purpose == .manifest ? headers + manifestHeaders : headers
  }
}
