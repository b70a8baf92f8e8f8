import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import PrefetchTransfer

extension RequestBuilder {
  /// Returns the transport with the shared store in front, if any; a dry run only reads it.
  func tiered(
    _ transport: CurlTransport,
    _ staging: any BodyStaging,
    bodies: BodyPaths,
    clock: any Clock,
    secrets: SecretNeedles,
    isDry: Bool = false
  ) -> (transport: any Transport, tier: (any SecondTier)?) {
    var settings = policy.tier
    if isDry, settings.isWritten {
      guard settings.isRead else { return (transport, nil) }
      settings.mode = .read
    }
    guard let url = settings.url, let base = Self.base(url, settings.kind) else {
      return (transport, nil)
    }
    let tier = TieredTransport(
      transport,
      staging: staging,
      clock: clock,
      terms: TierTerms(
        settings: settings,
        base: base,
        addTerms: equipment(settings, clock),
        encode: { response in
          let bytes = OriginRecord.encode(response)
          // A record with secrets, which a server may have echoed, is not stored.
          return secrets.ranges(in: bytes).isEmpty ? bytes : []
        },
        decode: { OriginRecord.decode($0, of: $1) },
        path: { bodies.path(of: $0) }
      ),
      objection: policy.refusal(of: base, for: .other, named: .local, at: clock.now().wall)
    )
    return (tier, tier)
  }

  /// Returns a URL as a bucket signs it: all but letters, digits and `-._~/` escaped.
  static func base(_ url: WebURL, _ kind: TierSettings.Kind) -> WebURL? {
    guard kind == .s3 else { return url }
    let path = url.path.split(separator: "/", omittingEmptySubsequences: false).map { part in
      part.split(separator: "%", omittingEmptySubsequences: false)
        .map { Hexadecimal.encodePercent(String($0)) }
        .joined(separator: "%")
    }
    let target = path.joined(separator: "/")
    return try? WebURL("\(url.scheme.rawValue)://\(url.authority)\(target)")
  }

  func equipment(
    _ settings: TierSettings,
    _ clock: any Clock
  ) -> (inout TransferRequest, ContentDigest) -> Void {
    let connections = Shared(policy)
    var table = ConnectionTable(connections.value)
    let signature = settings.kind == .s3 ? bucketSignature(settings) : nil
    let proof = settings.kind == .http ? settings.credentials.map(Self.proof) : nil
    return { request, payload in
      let now = clock.now().wall
      request.headers += settings.headers
      if let proof { request.headers.append(proof) }
      _ = table.addTerms(to: &request, for: .other, named: .local, isFirstOrigin: true, at: now)
      guard let signature else { return }
      var signed = BucketSignature.Request(
        request.method.name,
        host: request.url.authority,
        path: request.url.path,
        payload: payload
      )
      signed.query = request.url.query
      signed.headers = request.headers
      request.headers += signature.headers(of: signed, at: now)
    }
  }

  private static func proof(_ credentials: Secret) -> HeaderField {
    let text = credentials.value
    let value = text.contains(":") ? "Basic \(Base64.encode(text.utf8))" : "Bearer \(text)"
    return HeaderField("Authorization", value)
  }

  func bucketSignature(_ settings: TierSettings) -> BucketSignature? {
    let given = settings.credentials.map { secret in
      secret.value.split(separator: ":", maxSplits: 2).map(String.init)
    }
    let parts =
      given
      ?? ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].compactMap {
        environment[$0]
      }
    guard parts.count >= 2 else { return nil }
    return BucketSignature(
      accessKey: parts[0],
      secretKey: Secret(parts[1]),
      sessionToken: parts.count > 2 ? Secret(parts[2]) : nil,
      region: settings.region
    )
  }
}

extension TransferRequest.Method {
  fileprivate var name: String { TransportRule.Method(self).rawValue }
}
