@testable import PrefetchCore

extension TrustRow {
  /// Rows about pinned keys; the server's own key is the ground's RSA key.
  package static let pinned: [TrustRow] = [
    row("a pinned leaf", .accepted, leaf: { [$0.rsa] }),
    row(
      "another leaf than the pinned one",
      .refused(.pinMismatch, "none of those pinned"),
      leaf: { [$0.root.key] }
    ),
    row("a pinned leaf among backups", .accepted, leaf: { [$0.shortRSA, $0.rsa, $0.root.key] }),
    row(
      "another leaf than all backups",
      .refused(.pinMismatch, "`tls.pins.here`"),
      leaf: { [$0.shortRSA, $0.client.key] }
    ),
    row("a pinned root", .accepted, authority: { [$0.root.key] }),
    row("a pinned intermediate", .accepted, authority: { [$0.intermediate.key] }),
    row(
      "a pinned authority among backups",
      .accepted,
      authority: { [$0.stranger.key, $0.root.key] }
    ),
    row(
      "another authority than the pinned one",
      .refused(.pinMismatch, "no authority"),
      authority: { [$0.stranger.key] }
    ),
    row("both pins met", .accepted, leaf: { [$0.rsa] }, authority: { [$0.root.key] }),
    row(
      "the pinned leaf below another authority",
      .refused(.pinMismatch, "no authority"),
      leaf: { [$0.rsa] },
      authority: { [$0.stranger.key] }
    ),
    row(
      "another leaf below the pinned authority",
      .refused(.pinMismatch, "none of those"),
      leaf: { [$0.client.key] },
      authority: { [$0.root.key] }
    ),
    row(
      "neither of both",
      .refused(.pinMismatch, ""),
      leaf: { [$0.client.key] },
      authority: { [$0.stranger.key] }
    ),
    row(
      "a leaf that is pinned as an authority",
      .refused(.pinMismatch, ""),
      authority: { [$0.rsa] }
    ),
    row(
      "an authority that is pinned as a leaf",
      .refused(.pinMismatch, ""),
      leaf: { [$0.root.key] }
    ),
    row("an empty list", .refused(.pinMismatch, ""), leaf: { _ in [] }),
    row(
      "a mismatch that is only to be told",
      .accepted,
      leaf: { [$0.client.key] },
      onlyReports: true
    ),
    row("a match that would only be told", .accepted, leaf: { [$0.rsa] }, onlyReports: true),
    TrustRow(
      "a pin that holds and one that is reported",
      .refused(.pinMismatch, ""),
      rules: { ground, rules in
        rules.pins = [pin(leaf: [ground.rsa], onlyReports: true), pin(leaf: [ground.client.key])]
      },
      server: { .init(try leaf($0), $0.intermediate) }
    ),
    TrustRow(
      "a pinned authority that is only sent along",
      .refused(.pinMismatch, "no authority"),
      rules: { ground, rules in
        rules.pins = [pin(authority: [ground.stranger.key])]
      },
      server: { .init(try leaf($0), $0.intermediate, $0.stranger) }
    ),
    TrustRow(
      "a pinned root that is only sent along, first",
      .refused(.pinMismatch, "no authority"),
      rules: { ground, rules in
        rules.pins = [pin(authority: [ground.weakRoot.key])]
      },
      server: { .init(try leaf($0), $0.weakRoot, $0.intermediate) }
    ),
    TrustRow(
      "a pinned key without a certificate authority",
      .refused(.certificate, "self-signed"),
      rules: { ground, rules in
        rules.pins = [pin(leaf: [ground.rsa])]
      },
      server: { ground in
        .init(try TestCertificate(.init("a server", for: TrustGround.here), key: ground.rsa))
      }
    ),
    TrustRow(
      "a pinned authority that is not trusted",
      .refused(.certificate, "self-signed"),
      rules: { ground, rules in
        rules.pins = [pin(authority: [ground.stranger.key])]
      },
      server: { .init(try $0.leaf(by: $0.stranger), $0.stranger) }
    ),
    TrustRow(
      "a pinned key that expired",
      .refused(.certificate, "expired"),
      rules: { ground, rules in
        rules.pins = [pin(leaf: [ground.rsa])]
      },
      server: { .init(try $0.leaf(key: $0.rsa) { $0.ends = -60 }) }
    ),
    TrustRow(
      "a pinned key of another host",
      .refused(.certificate, "127.0.0.1"),
      rules: { ground, rules in
        rules.pins = [pin(leaf: [ground.rsa])]
      },
      server: { .init(try $0.leaf(for: "IP:127.0.0.2", key: $0.rsa)) }
    ),
    TrustRow(
      "a chain of one against a pinned authority",
      .refused(.pinMismatch, "no authority"),
      rules: { ground, rules in
        rules.pins = [pin(authority: [ground.lonely.key])]
      },
      server: { .init($0.lonely) }
    ),
    TrustRow(
      "another leaf over TLS 1.2",
      .refused(.pinMismatch, ""),
      rules: { ground, rules in
        rules.pins = [pin(leaf: [ground.client.key])]
      },
      server: { ground in
        var options = TLSServer.Options(try ground.leaf())
        options.versions = .tls12 ... .tls12
        return options
      }
    ),
    TrustRow(
      "another leaf over TLS 1.0",
      .refused(.pinMismatch, ""),
      rules: { ground, rules in
        rules.minimumTLS = .tls10
        rules.pins = [pin(leaf: [ground.client.key])]
      },
      server: { ground in
        var options = TLSServer.Options(try ground.leaf(key: ground.rsa))
        options.versions = .tls10 ... .tls10
        options.ciphers = "ALL"
        return options
      }
    ),
    TrustRow(
      "another leaf without forward secrecy",
      .refused(.pinMismatch, ""),
      rules: { ground, rules in
        rules.requiresForwardSecrecy = false
        rules.pins = [pin(leaf: [ground.client.key])]
      },
      server: { ground in
        var options = TLSServer.Options(try ground.leaf(key: ground.rsa))
        options.versions = .tls12 ... .tls12
        options.ciphers = "AES128-GCM-SHA256"
        return options
      }
    ),
  ]

  private static func row(
    _ name: String,
    _ outcome: Outcome,
    leaf keys: (@Sendable (TrustGround) -> [TestKey])? = nil,
    authority: (@Sendable (TrustGround) -> [TestKey])? = nil,
    onlyReports: Bool = false
  ) -> TrustRow {
    TrustRow(
      name,
      outcome,
      rules: { ground, rules in
        rules.pins = [
          pin(
            leaf: keys.map { $0(ground) },
            authority: authority.map { $0(ground) },
            onlyReports: onlyReports
          )
        ]
      },
      server: { .init(try leaf($0), $0.intermediate) }
    )
  }

  private static func leaf(_ ground: TrustGround) throws -> TestCertificate {
    try ground.leaf(by: ground.intermediate, key: ground.rsa)
  }

  private static func pin(
    leaf: [TestKey]? = nil,
    authority: [TestKey]? = nil,
    onlyReports: Bool = false
  ) -> PinRule {
    var rule = PinRule(
      leaf: leaf.map { Set($0.map(\.digest)) },
      authority: authority.map { Set($0.map(\.digest)) },
      entries: ["tls.pins.here"]
    )
    rule.onlyReports = onlyReports
    return rule
  }
}
