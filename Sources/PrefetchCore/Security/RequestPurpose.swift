/// Purpose of a request, by which connection rules differ.
package enum RequestPurpose: Hashable, Sendable {
  case manifest
  case media
  case page
  case other

  package init(itemType: String?) {
    switch itemType {
    case "video", "audio", "hls": self = .media
    case "page": self = .page
    default: self = .other
    }
  }
}

/// Source that named a URL.
package enum Provenance: Hashable, Sendable {
  /// Configuration, local file, or server on this machine or its networks.
  case local
  case publicServer

  /// Classifies by the responding address, which has no meaning behind a proxy.
  package init(remoteAddress address: String?, throughProxy isProxied: Bool) {
    let isLocal = !isProxied && address.flatMap { IPAddress($0) }?.isLocal == true
    self = isLocal ? .local : .publicServer
  }

  /// Classifies by the URL alone, without resolving names.
  package init(servedFrom url: WebURL, throughProxy isProxied: Bool) {
    let isHere = url.host == "localhost" || IPAddress(host: url.host)?.isLocal == true
    self = isHere && !isProxied ? .local : .publicServer
  }
}
