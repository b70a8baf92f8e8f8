internal import PrefetchCore

extension TrustRow {
  /// Rows about the strength of keys and signatures.
  package static let strengths: [TrustRow] = [
    TrustRow("RSA of 2048 bits", .accepted) { .init(try $0.leaf(key: $0.rsa)) },
    TrustRow("P-384", .accepted) { .init(try $0.leaf(key: try TestKey(.curve("P-384")))) },
    TrustRow("P-521", .accepted) { .init(try $0.leaf(key: try TestKey(.curve("P-521")))) },
    TrustRow("Ed25519", .accepted) { .init(try $0.leaf(key: try TestKey(.edwards))) },
    TrustRow("an authority with Ed25519", .accepted) { ground in
      let edwards = try TestCertificate(
        .init("Edwards", isAuthority: true),
        by: ground.root,
        key: try TestKey(.edwards)
      )
      return .init(try ground.leaf(by: edwards) { $0.digest = .none }, edwards)
    },
    TrustRow("RSA of 1024 bits", .refused(.certificate, "too weak")) {
      .init(try $0.leaf(key: $0.shortRSA))
    },
    TrustRow("an intermediate with RSA of 1024 bits", .refused(.certificate, "too weak")) {
      try intermediate($0, key: $0.shortRSA)
    },
    TrustRow("a trusted root with RSA of 1024 bits", .refused(.certificate, "too weak")) {
      .init(try $0.leaf(by: $0.weakRoot))
    },
    TrustRow("a curve of 192 bits", .refused(.transportSecurity, "safe enough")) {
      .init(try $0.leaf(key: try TestKey(.curve("P-192"))))
    },
    TrustRow("a curve of 224 bits", .refused(.transportSecurity, "safe enough")) {
      .init(try $0.leaf(key: try TestKey(.curve("P-224"))))
    },
    TrustRow("an intermediate with a curve of 192 bits", .refused(.certificate, "weak")) {
      try intermediate($0, key: try TestKey(.curve("P-192")))
    },
    TrustRow("an intermediate with a curve of 224 bits", .refused(.certificate, "224 bits")) {
      try intermediate($0, key: try TestKey(.curve("P-224")))
    },
    TrustRow("a signature with MD5", .refused(.certificate, "weak")) {
      .init(try $0.leaf(by: $0.oldRoot) { $0.digest = .md5 })
    },
    TrustRow("a signature with SHA-1", .refused(.certificate, "weak")) {
      .init(try $0.leaf { $0.digest = .sha1 })
    },
    TrustRow("a signature with SHA-224", .refused(.certificate, "weaker than SHA-256")) {
      .init(try $0.leaf { $0.digest = .sha224 })
    },
    TrustRow("an intermediate signed with SHA-1", .refused(.certificate, "weak")) {
      try intermediate($0, key: nil) { $0.digest = .sha1 }
    },
  ]

  private static func intermediate(
    _ ground: TrustGround,
    key: TestKey?,
    _ adjust: (inout TestCertificate.Form) -> Void = { _ in }
  ) throws -> TLSServer.Options {
    var form = TestCertificate.Form("Between", isAuthority: true)
    adjust(&form)
    let between = try TestCertificate(form, by: ground.root, key: key)
    return .init(try ground.leaf(by: between), between)
  }

  /// Rows about versions, ciphers and groups, which are negotiated before certificates.
  package static let handshakes: [TrustRow] = [
    TrustRow("TLS 1.3 only", .accepted) { try offering($0, .tls13 ... .tls13) },
    TrustRow("TLS 1.2 only", .accepted) { try offering($0, .tls12 ... .tls12) },
    TrustRow("TLS 1.0 to 1.2", .accepted) { try offering($0, .tls10 ... .tls12) },
    TrustRow("TLS 1.1 only", .refused(.transportSecurity, "TLS 1.2 or newer")) {
      try offering($0, .tls11 ... .tls11)
    },
    TrustRow("TLS 1.0 only", .refused(.transportSecurity, "TLS 1.2 or newer")) {
      try offering($0, .tls10 ... .tls10)
    },
    TrustRow(
      "TLS 1.2 where 1.3 is wanted",
      .refused(.transportSecurity, "TLS 1.3 or newer"),
      rules: { $1.minimumTLS = .tls13 },
      server: { try offering($0, .tls12 ... .tls12) }
    ),
    TrustRow(
      "TLS 1.3 where 1.3 is wanted",
      .accepted,
      rules: { $1.minimumTLS = .tls13 },
      server: { try offering($0, .tls12 ... .tls13) }
    ),
    TrustRow("ECDHE with CBC", .accepted) {
      try offering($0, ciphers: "ECDHE-RSA-AES128-SHA256")
    },
    TrustRow("ChaCha20", .accepted) { try offering($0, ciphers: "ECDHE-RSA-CHACHA20-POLY1305") },
    TrustRow("static RSA only", .refused(.transportSecurity, "forward secrecy")) {
      try offering($0, ciphers: "AES128-GCM-SHA256")
    },
    TrustRow("no encryption", .refused(.transportSecurity, "safe enough")) {
      try offering($0, ciphers: "ECDHE-RSA-NULL-SHA")
    },
    TrustRow("an unknown key", .refused(.transportSecurity, "safe enough")) {
      try offering($0, ciphers: "AECDH-AES128-SHA")
    },
    TrustRow("a pre-shared key only", .refused(.transportSecurity, "safe enough")) {
      try offering($0, ciphers: "PSK-AES128-CBC-SHA")
    },
    TrustRow("a short curve to agree on", .refused(.transportSecurity, "safe enough")) { ground in
      var options = try offering(ground, .tls12 ... .tls13)
      options.groups = "P-224"
      return options
    },
  ]

  /// Rows about what an exception permits, and what it does not.
  package static let weakerRules: [TrustRow] = [
    TrustRow(
      "static RSA where it is allowed",
      .accepted,
      rules: noSecrecy,
      server: {
        try offering($0, ciphers: "AES128-GCM-SHA256")
      }
    ),
    TrustRow(
      "static RSA with CBC where it is allowed",
      .accepted,
      rules: noSecrecy,
      server: {
        try offering($0, ciphers: "AES256-SHA")
      }
    ),
    TrustRow(
      "forward secrecy where it need not be",
      .accepted,
      rules: noSecrecy,
      server: {
        .init(try $0.leaf())
      }
    ),
    TrustRow(
      "a short key where it is allowed",
      .accepted,
      rules: noSecrecy,
      server: {
        .init(try $0.leaf(key: $0.shortRSA))
      }
    ),
    TrustRow(
      "SHA-1 where short keys are allowed",
      .refused(.certificate, "SHA1"),
      rules: noSecrecy,
      server: {
        .init(try $0.leaf { $0.digest = .sha1 })
      }
    ),
    TrustRow(
      "expired where short keys are allowed",
      .refused(.certificate, "expired"),
      rules: noSecrecy,
      server: {
        .init(try $0.leaf { $0.ends = -60 })
      }
    ),
    TrustRow(
      "TLS 1.1 where short keys are allowed",
      .refused(.transportSecurity, "1.2"),
      rules: noSecrecy,
      server: {
        try offering($0, .tls11 ... .tls11)
      }
    ),
    TrustRow(
      "TLS 1.0 where it is allowed",
      .accepted,
      rules: { $1.minimumTLS = .tls10 },
      server: {
        try offering($0, .tls10 ... .tls10)
      }
    ),
    TrustRow(
      "TLS 1.1 where it is allowed",
      .accepted,
      rules: { $1.minimumTLS = .tls11 },
      server: {
        try offering($0, .tls11 ... .tls11)
      }
    ),
    TrustRow(
      "TLS 1.3 where 1.0 is allowed",
      .accepted,
      rules: { $1.minimumTLS = .tls10 },
      server: {
        .init(try $0.leaf())
      }
    ),
    TrustRow(
      "TLS 1.0 where 1.1 is allowed",
      .refused(.transportSecurity, "TLS 1.1"),
      rules: { $1.minimumTLS = .tls11 },
      server: { try offering($0, .tls10 ... .tls10) }
    ),
    TrustRow(
      "a short key where TLS 1.0 is allowed",
      .refused(.certificate, "1024 bits"),
      rules: { $1.minimumTLS = .tls10 },
      server: { .init(try $0.leaf(key: $0.shortRSA)) }
    ),
    TrustRow(
      "SHA-1 where TLS 1.0 is allowed",
      .refused(.certificate, "SHA1"),
      rules: { $1.minimumTLS = .tls10 },
      server: { .init(try $0.leaf { $0.digest = .sha1 }) }
    ),
    TrustRow(
      "static RSA where TLS 1.0 is allowed",
      .refused(.transportSecurity, "forward secrecy"),
      rules: { $1.minimumTLS = .tls10 },
      server: { try offering($0, ciphers: "AES128-SHA") }
    ),
  ]

  private static let noSecrecy: @Sendable (TrustGround, inout ConnectionRules) -> Void = {
    $1.requiresForwardSecrecy = false
  }

  private static func offering(
    _ ground: TrustGround,
    _ versions: ClosedRange<TLSServer.Version>
  ) throws -> TLSServer.Options {
    var options = TLSServer.Options(try ground.leaf(key: ground.rsa))
    options.versions = versions
    options.ciphers = "ALL"
    return options
  }

  private static func offering(
    _ ground: TrustGround,
    ciphers: String
  ) throws -> TLSServer.Options {
    var options = try offering(ground, .tls10 ... .tls12)
    options.ciphers = ciphers
    return options
  }
}
