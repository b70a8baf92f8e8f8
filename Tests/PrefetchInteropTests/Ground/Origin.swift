@unsafe @preconcurrency import Glibc
import PrefetchTestSupport

extension LoopbackServer {
  /// Returns the URL of a path in the spelling of configurations.
  func address(_ path: String) -> String {
    "http://\(host):\(port)\(path)"
  }
}

/// Writes native manifests as publishers do.
enum Manifest {
  struct Entry {
    var url: String
    var digest: String?

    init(_ url: String, digest: String? = nil) {
      self.url = url
      self.digest = digest
    }
  }

  static func text(_ urls: some Sequence<String>) -> String {
    text(urls.map { Entry($0) })
  }

  static func text(_ entries: [Entry]) -> String {
    let items = entries.map { entry in
      let digest = entry.digest.map { #", "digests": {"sha256": "\#($0)"}"# } ?? ""
      return #"{"url": "\#(entry.url)"\#(digest)}"#
    }
    return #"{"format": "prefetch-manifest", "version": 1, "items": ["#
      + items.joined(separator: ",\n") + "]}\n"
  }
}

extension LoopbackServer {
  /// False when half a minute brings no request for this path.
  func waitForRequest(_ path: String) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if requests.contains(where: { $0.path == path }) { return true }
      poll(nil, 0, 2)
    }
    return false
  }
}
