internal import PrefetchCore

extension TrustRow {
  /// Rows about client certificates.
  package static let clients: [TrustRow] = [
    TrustRow(
      "wants a certificate of ours and gets it",
      .accepted,
      rules: { ground, rules in
        rules.client = ground.clientFiles()
      },
      server: { try requestingCertificate($0, isRequired: true) }
    ),
    TrustRow("would like a certificate of ours and gets none", .accepted) {
      try requestingCertificate($0, isRequired: false)
    },
    TrustRow("wants a certificate of ours and gets none", .refused(.tls, "`tls.client`")) {
      ground in
      try requestingCertificate(ground, isRequired: true, upTo: .tls12)
    },
    TrustRow(
      "wants a certificate of ours and gets another's",
      .refused(.tls, "does not accept"),
      rules: {
        ground,
        rules in
        rules.client = ground.clientFiles("strange")
      },
      server: { try requestingCertificate($0, isRequired: true, upTo: .tls12) }
    ),
    TrustRow("wants a certificate of ours after the handshake", .failed(.tls)) {
      try requestingCertificate($0, isRequired: true)
    },
    TrustRow(
      "wants a certificate of ours, which is missing",
      .refused(.permission, ""),
      rules: {
        ground,
        rules in
        rules.client = ground.clientFiles("absent")
      },
      server: { try requestingCertificate($0, isRequired: true) }
    ),
  ]

  private static func requestingCertificate(
    _ ground: TrustGround,
    isRequired: Bool,
    upTo version: TLSServer.Version = .tls13
  ) throws -> TLSServer.Options {
    var options = TLSServer.Options(try ground.leaf())
    options.versions = .tls12...version
    options.clientAuthority = ground.clientRoot
    options.requiresClientCertificate = isRequired
    return options
  }

  /// Rows about connections that end early, through no fault of a certificate.
  package static let earlyEnds: [TrustRow] = [
    earlyEnd(
      "garbage in place of a handshake",
      .refused(.tls, ""),
      .raw(Array("hello, world\n".utf8))
    ),
    earlyEnd(
      "plain HTTP in place of a handshake",
      .refused(.tls, ""),
      .raw(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
    ),
    earlyEnd(
      "zeros in place of a handshake",
      .refused(.tls, ""),
      .raw(Array(repeating: 0, count: 64))
    ),
    earlyEnd("a reset in place of a handshake", .refused(.tls, ""), .reset),
    earlyEnd("an end in place of a handshake", .refused(.tls, ""), .close),
    earlyEnd("silence in place of a handshake", .refused(.timeout, "connection"), .silence),
    earlyEnd("an alert: handshake failure", .refused(.transportSecurity, "safe enough"), alert(40)),
    earlyEnd("an alert: protocol version", .refused(.transportSecurity, "safe enough"), alert(70)),
    earlyEnd(
      "an alert: insufficient security",
      .refused(.transportSecurity, "safe enough"),
      alert(71)
    ),
    earlyEnd("an alert: internal error", .refused(.tls, ""), alert(80)),
    earlyEnd("an alert: unknown name", .refused(.tls, ""), alert(112)),
    response("a body cut without TLS's own end", .failed(.truncated), .untilClose(saysSo: false)),
    response(
      "a body that only the end of TLS ends",
      .failed(.truncated),
      .untilClose(saysSo: true)
    ),
    response("a body cut before its length", .failed(.truncated), .cutShort),
  ]

  private static func earlyEnd(
    _ name: String,
    _ outcome: Outcome,
    _ conduct: TLSServer.Conduct
  ) -> TrustRow {
    TrustRow(name, outcome) { _ in .init(conduct) }
  }

  private static func response(
    _ name: String,
    _ outcome: Outcome,
    _ conduct: TLSServer.Conduct
  ) -> TrustRow {
    TrustRow(name, outcome) { ground in
      var options = TLSServer.Options(try ground.leaf())
      options.conduct = conduct
      return options
    }
  }

  private static func alert(_ number: UInt8) -> TLSServer.Conduct {
    .raw([21, 3, 3, 0, 2, 2, number])
  }
}
