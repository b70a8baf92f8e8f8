package import PrefetchCore
import PrefetchDocuments

extension Configuration {
  static let tlsTable = ObjectType(Self(), name: "tls") {
    Field("min_version", \.policy.connections.minimumTLS, .tlsVersion)
      .help("Oldest version of TLS; it may only be raised")
    Field("ca_file", \.settings.caFile, .path)
      .help("File with the certificates to trust, instead of the system's")
    Field("ca_dir", \.settings.caDirectory, .path)
      .help("Folder with the certificates to trust, instead of the system's")
    Field("pins", \.pins, .map(of: HostKey.host, to: .object(PinTable.Rule.table)))
      .help("Public keys that hosts must prove to have")
    Field(
      "client",
      \.policy.connections.clients,
      .map(of: HostKey.hostAndPort, to: .object(ConnectionRules.ClientCertificate.table))
    )
    .help("Client certificates by host")
  }

  package var pinTable: PinTable {
    PinTable(
      pins.map { host, entry in
        var entry = entry
        entry.host = host
        return entry
      }
    )
  }
}

extension ConnectionRules.ClientCertificate {
  fileprivate static let table = ObjectType(
    Self(certificate: "", key: ""),
    name: "client_certificate"
  ) {
    Field("certificate", \.certificate, .path).help("File with the certificate in PEM form")
    Field("key", \.key, .path).help("File with the private key of the certificate")
  }
  .requiring("certificate") { _ in "`certificate` is missing" }
  .requiring("key") { _ in "`key` is missing" }
}

extension ValueType where Value == ConnectionRules.MinimumTLS {
  fileprivate static var tlsVersion: Self {
    scalar(
      "1.2 or 1.3",
      summary: "1.2|1.3",
      schema: .words(["1.2", "1.3", "TLSv1.2", "TLSv1.3"])
    ) {
      text throws(ValueComplaint) in
      // A plist may hold the number 1.3; other authors write the protocol's name.
      let number = text.hasPrefix("TLSv") ? text.dropFirst(4) : text[...]
      if let version = ConnectionRules.MinimumTLS(rawValue: "TLSv\(number)"), version >= .tls12 {
        return version
      }
      guard number == "1.0" || number == "1.1" || number == "1" else {
        throw ValueComplaint(
          "unknown value `\(text)`",
          hint: "known are `1.2`, `1.3`",
          code: "config.unknown-value"
        )
      }
      throw ValueComplaint(
        "the minimum version can only be raised, and `\(text)` is below `1.2`",
        hint: "an exception of a single host is made in `transport_security`"
      )
    } encode: {
      .string($0.number)
    }
  }
}

extension PinTable.Rule {
  static let table = ObjectType(Self(), name: "pin") {
    Field("subdomains", \.includesSubdomains, .boolean)
      .help("Whether the pins also cover names one label below")
    Field("leaf", \.leaf, .list(of: .publicKeyDigest, atLeast: 1))
      .help("Digests of the host's own key")
    Field("ca", \.authority, .list(of: .publicKeyDigest, atLeast: 1))
      .help("Digests of keys above it in the verified chain")
    Field("report_only", \.onlyReports, .boolean).help("Whether a mismatch is only reported")
    Field("expires", \.expires, .date).help("Date after which the pin is ignored")
  }
  .requiring("leaf", "ca", code: "config.bad-pin") { _ in
    "the pin has neither `leaf` nor `ca`"
  }
  .checking(recordLocation)

  static let appleTable = ObjectType(Self(), name: "apple_pin") {
    Field("NSIncludesSubdomains", \.includesSubdomains, .strictBoolean)
      .help("Whether the pins also cover names one label below")
    Field("NSPinnedLeafIdentities", \.leaf, .list(of: .pinnedIdentity, atLeast: 1))
      .help("Digests of the host's own key")
    Field("NSPinnedCAIdentities", \.authority, .list(of: .pinnedIdentity, atLeast: 1))
      .help("Digests of keys above it in the verified chain")
  }
  .requiring("NSPinnedLeafIdentities", "NSPinnedCAIdentities", code: "config.bad-pin") { _ in
    "the pin has neither `NSPinnedLeafIdentities` nor `NSPinnedCAIdentities`"
  }
  .checking(recordLocation)

  func says(_ other: Self) -> Bool {
    var other = other
    other.location = location
    return self == other
  }

  private static let recordLocation:
    @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void = {
      pin,
      facts,
      decoder in
      let origin = facts.node.location.map { "\($0.file):\($0.line)" } ?? facts.node.source
      pin.location = "\(decoder.path) (\(origin))"
    }
}

extension ValueType where Value == ContentDigest {
  fileprivate static var pinnedIdentity: Self {
    let type = ObjectType(Identity(), name: "identity") {
      Field("SPKI-SHA256-BASE64", \.digest, .publicKeyDigest).help("Digest of the public key")
    }
    .requiring("SPKI-SHA256-BASE64", code: "config.bad-pin") { _ in
      "`SPKI-SHA256-BASE64` is missing"
    }
    return Self(
      shape: .object(type.shape),
      decode: { node, decoder in
        var identity = type.initial
        type.decode(node, into: &identity, &decoder)
        return identity.digest
      },
      encode: { type.encode(Identity(digest: $0)) }
    )
  }
}

private struct Identity: Sendable {
  var digest: ContentDigest?
}
