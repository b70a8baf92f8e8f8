package import PrefetchCore
import PrefetchDocuments

/// Versions, trust and pins of encrypted connections.
package struct TLS: Hashable, Sendable {
  package enum MinimumVersion: String, Hashable, Sendable, CaseIterable {
    case tls12 = "1.2"
    case tls13 = "1.3"
  }

  /// A certificate of ours for a host that asks for one.
  package struct ClientCertificate: Hashable, Sendable {
    package var certificate: String?
    package var key: String?

    static let table = ObjectType(Self(), name: "client_certificate") {
      Field("certificate", \.certificate, .path, "File with the certificate in PEM form")
      Field("key", \.key, .path, "File with its private key")
    }
    .checking { _, facts, decoder in
      for key in ["certificate", "key"] where !facts.has(key) {
        decoder.report("config.missing-key", "`\(key)` is missing", at: facts.node)
      }
    }
  }

  package var minimumVersion = MinimumVersion.tls12
  package var authorityFile: String?
  package var authorityFolder: String?
  package var pins: [String: Pin] = [:]
  package var client: [String: ClientCertificate] = [:]

  static let table = ObjectType(Self(), name: "tls") {
    Field(
      "min_version",
      \.minimumVersion,
      .tlsVersion,
      "Oldest version of TLS; it may only be raised"
    )
    Field(
      "ca_file",
      \.authorityFile,
      .path,
      "File with the certificates to trust, instead of the system's"
    )
    Field(
      "ca_dir",
      \.authorityFolder,
      .path,
      "Folder with the certificates to trust, instead of the system's"
    )
    Field(
      "pins",
      \.pins,
      .map(of: HostKey.host, to: .object(Pin.table)),
      "Keys that hosts must prove to have"
    )
    Field(
      "client",
      \.client,
      .map(of: HostKey.hostAndPort, to: .object(ClientCertificate.table)),
      "Certificates of ours, by host"
    )
  }
}

extension ValueType where Value == TLS.MinimumVersion {
  fileprivate static var tlsVersion: Self {
    scalar(
      "1.2 or 1.3",
      summary: "1.2|1.3",
      schema: [("enum", .array([.string("1.2"), .string("1.3")]))]
    ) {
      text throws(ValueComplaint) in
      // A plist may hold the real number 1.3, and others write what protocols call themselves.
      let number = text.hasPrefix("TLSv") ? text.dropFirst(4) : text[...]
      if let version = TLS.MinimumVersion(rawValue: String(number)) { return version }
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
      .string($0.rawValue)
    }
  }
}

/// The public keys that a host must prove to have.
package struct Pin: Hashable, Sendable {
  package var includesSubdomains = false
  /// SHA-256 of the SubjectPublicKeyInfo; of the host's own certificate, of one of those above it.
  package var leaf: [ContentDigest]?
  package var authority: [ContentDigest]?
  package var onlyReports = false
  package var expires: Instant?
  /// Where it stands: the path, and file and line where they are known.
  package var place = ""

  static let table = ObjectType(Self(), name: "pin") {
    Field(
      "subdomains",
      \.includesSubdomains,
      .boolean,
      "Whether names one label below are pinned too"
    )
    Field("leaf", \.leaf, .list(of: .publicKeyDigest, atLeast: 1), "Digests of the host's own key")
    Field(
      "ca",
      \.authority,
      .list(of: .publicKeyDigest, atLeast: 1),
      "Digests of a key above it in the verified chain"
    )
    Field("report_only", \.onlyReports, .boolean, "Whether a mismatch is only reported")
    Field("expires", \.expires, .date, "When the pin ceases to hold")
  }
  .checking(check("leaf", "ca"))

  /// The same in Apple's words.
  static let appleTable = ObjectType(Self(), name: "apple_pin") {
    Field(
      "NSIncludesSubdomains",
      \.includesSubdomains,
      .strictBoolean,
      "Whether names one label below are pinned too"
    )
    Field(
      "NSPinnedLeafIdentities",
      \.leaf,
      .list(of: .pinnedIdentity, atLeast: 1),
      "Digests of the host's own key"
    )
    Field(
      "NSPinnedCAIdentities",
      \.authority,
      .list(of: .pinnedIdentity, atLeast: 1),
      "Digests of a key above it in the verified chain"
    )
  }
  .checking(check("NSPinnedLeafIdentities", "NSPinnedCAIdentities"))

  /// Whether another entry, wherever it stands, says the same.
  func says(_ other: Self) -> Bool {
    var other = other
    other.place = place
    return self == other
  }

  private static func check(
    _ leaf: String,
    _ authority: String
  ) -> @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void {
    { pin, facts, decoder in
      let origin = facts.node.location.map { "\($0.file):\($0.line)" } ?? facts.node.source
      pin.place = "\(decoder.path) (\(origin))"
      guard !facts.has(leaf), !facts.has(authority) else { return }
      decoder.report(
        "config.bad-pin",
        "the pin has neither `\(leaf)` nor `\(authority)`",
        at: facts.node
      )
    }
  }
}

extension ValueType where Value == ContentDigest {
  /// SHA-256 in base64, with or without `sha256/` or `sha256//` before it, or in hexadecimal digits.
  static var publicKeyDigest: Self {
    scalar("a base64 SHA-256 digest", summary: "base64 digest", code: "config.bad-pin") {
      text throws(ValueComplaint) in
      // A digest may begin with a slash of its own, so both prefixes are tried.
      let values = ["sha256//", "sha256/", ""].filter(text.hasPrefix).map {
        text.dropFirst($0.count)
      }
      let readings = values.compactMap { value in
        value.utf8.count == 64 ? Hexadecimal.decode(value) : Base64.decode(value)
      }
      guard let bytes = readings.first(where: { $0.count == 32 }) ?? readings.first else {
        throw ValueComplaint(
          "`\(text)` is not base64",
          hint: "`prefetch pins HOST` prints the right text"
        )
      }
      guard let digest = ContentDigest(bytes: bytes) else {
        throw ValueComplaint(
          "the pin `\(text)` is \(bytes.count) bytes long; a SHA-256 digest has 32",
          hint: "`prefetch pins HOST` prints the right text"
        )
      }
      return digest
    } encode: {
      .string(Base64.encode($0.bytes))
    }
  }

  /// The mapping of one key that Apple wraps a digest in.
  fileprivate static var pinnedIdentity: Self {
    let type = ObjectType(Identity(), name: "identity") {
      Field("SPKI-SHA256-BASE64", \.digest, .publicKeyDigest, "Digest of the public key")
    }
    .checking { _, facts, decoder in
      guard !facts.has("SPKI-SHA256-BASE64") else { return }
      decoder.report("config.bad-pin", "`SPKI-SHA256-BASE64` is missing", at: facts.node)
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
