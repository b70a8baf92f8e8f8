/// Settings of requests that match a pattern; of several rules the first that matches holds.
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

  /// Nil for every URL.
  package var url: URLPattern?
  /// Nil for every method.
  package var method: Method?
  package var proxy: TransportSettings.Proxy?
  package var httpVersion: TransportSettings.HTTPVersion?
  package var headers: [HeaderField] = []
  /// Those that hold the license: for manifests alone, and for their own origin.
  package var manifestHeaders: [HeaderField] = []

  package init(url: URLPattern? = nil, method: Method? = nil) {
    self.url = url
    self.method = method
  }

  package func matches(_ url: WebURL, method: TransferRequest.Method) -> Bool {
    if let wanted = self.method, wanted != Method(method) { return false }
    return self.url?.matches(url) ?? true
  }

  /// What it adds to a request; `isFirstOrigin` is false where a redirect or an alternate led there.
  ///
  /// Such a request gets headers only of a rule that names the hosts it is for: `**` does not mean
  /// that any host we are sent to may have them.
  package func headers(for purpose: RequestPurpose, isFirstOrigin: Bool) -> [HeaderField] {
    guard isFirstOrigin else { return url?.namesItsHosts == true ? headers : [] }
    return purpose == .manifest ? headers + manifestHeaders : headers
  }
}
