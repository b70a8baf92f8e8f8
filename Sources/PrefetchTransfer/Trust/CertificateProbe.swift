internal import CCurl
package import PrefetchCore

/// Connects to a host without sending a request, to read its certificates.
package enum CertificateProbe {
  /// Returns the verified chain, the host's own certificate first; pins do not count.
  package static func chain(
    of url: WebURL,
    settings: TransportSettings
  ) throws(Failure) -> [CertificateFacts] {
    let library = LibraryVersion()
    guard library.hasOurOpenSSL else {
      throw Failure(
        .unsupported,
        "this libcurl uses \(library.tls ?? "no TLS"), which does not show the verified chain"
      )
    }
    let sockets = OpenSockets()
    // The handle reports closed connections to this object until its end.
    defer { withExtendedLifetime(sockets) {} }
    return try chain(of: url, ConnectionPools(settings, library: library, sockets: sockets))
  }

  private static func chain(
    of url: WebURL,
    _ pools: ConnectionPools
  ) throws(Failure) -> [CertificateFacts] {
    let pool = pools.all[0]
    let lane = try Lane(pool)
    lane.probedURL = url
    try lane.handle.prepare(probing: url, pool.options)
    try lane.settleProxy(before: url)
    let result = lane.handle.perform()
    guard result == CURLE_OK else {
      let fault = CurlFault(
        code: result,
        phase: .connecting,
        detail: lane.handle.lastError,
        systemError: lane.handle.number(CURLINFO_OS_ERRNO),
        proxyStatus: lane.handle.number(CURLINFO_HTTP_CONNECTCODE),
        proxy: pool.options.settings.proxy.name(before: url)
      )
      throw lane.verdict(on: fault) ?? fault.failure(for: url, settings: pool.options.settings)
    }
    return lane.trust.chain
  }
}
