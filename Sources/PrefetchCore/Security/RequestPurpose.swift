/// What a request is for, as far as rules about connections ask.
package enum RequestPurpose: Hashable, Sendable {
  case manifest
  /// Video, audio and playlists.
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

/// Who named a URL.
package enum Provenance: Hashable, Sendable {
  /// The configuration, a file here, or a server on this machine or its networks.
  case local
  /// A server out there, or one of which that is not known.
  case publicServer

  /// By the address that the answer came from; of what went through a proxy nothing is known.
  package init(answeredFrom address: String?, throughProxy isProxied: Bool) {
    let isLocal = !isProxied && address.flatMap { IPAddress($0) }?.isLocal == true
    self = isLocal ? .local : .publicServer
  }

  /// By the URL alone, of a server that is not asked now: a name could be any server's.
  package init(servedFrom url: WebURL, throughProxy isProxied: Bool) {
    let isHere = url.host == "localhost" || IPAddress(host: url.host)?.isLocal == true
    self = isHere && !isProxied ? .local : .publicServer
  }
}
