internal import COpenSSL
package import PrefetchCore

/// AWS Signature Version 4 of one request, as a pure function of the request and its time.
package struct BucketSignature: Sendable {
  package var accessKey: String
  package var secretKey: Secret
  package var sessionToken: Secret?
  package var region: String
  package var service = "s3"

  package init(accessKey: String, secretKey: Secret, sessionToken: Secret? = nil, region: String) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
    self.region = region
  }

  /// A request as sent: path and query are already percent-encoded.
  package struct Request: Sendable {
    package var method: String
    /// Host, with the port unless it is the default.
    package var host: String
    package var path: String
    package var query: String?
    package var headers: [HeaderField] = []
    package var payload: ContentDigest

    package init(_ method: String, host: String, path: String, payload: ContentDigest) {
      self.method = method
      self.host = host
      self.path = path
      self.payload = payload
    }
  }

  package func headers(of request: Request, at now: Instant) -> [HeaderField] {
    let time = Self.time(now)
    var added = [
      HeaderField("X-Amz-Content-SHA256", request.payload.hexadecimal),
      HeaderField("X-Amz-Date", time),
    ]
    if let sessionToken { added.append(HeaderField("X-Amz-Security-Token", sessionToken.value)) }
    let signed = Self.canonical(
      [HeaderField("Host", request.host)] + request.headers + added
    )
    let names = signed.map(\.name).joined(separator: ";")
    let canonical = [
      request.method, request.path.isEmpty ? "/" : request.path, Self.canonical(request.query),
      signed.map { "\($0.name):\($0.value)\n" }.joined(), names, request.payload.hexadecimal,
    ].joined(separator: "\n")
    let day = String(time.prefix(8))
    let scope = "\(day)/\(region)/\(service)/aws4_request"
    let text = [
      "AWS4-HMAC-SHA256", time, scope, SHA256.digest(of: canonical).hexadecimal,
    ].joined(separator: "\n")
    let key = [day, region, service, "aws4_request"].reduce(Array("AWS4\(secretKey.value)".utf8)) {
      Self.authenticate($1, $0)
    }
    let signature = Hexadecimal.encode(Self.authenticate(text, key))
    added.append(
      HeaderField(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
      )
    )
    return added
  }

  /// Returns the time as `20261124T080000Z`.
  private static func time(_ now: Instant) -> String {
    String(Timestamp.format(now).prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
  }

  private static func canonical(_ fields: [HeaderField]) -> [(name: String, value: String)] {
    fields.map { field in
      let words = field.value.split(separator: " ")
      return (name: field.name.lowercased(), value: words.joined(separator: " "))
    }
    .sorted { $0.name < $1.name }
  }

  private static func canonical(_ query: String?) -> String {
    guard let query, !query.isEmpty else { return "" }
    let pairs = query.split(separator: "&").map { pair -> (name: Substring, value: Substring) in
      let mark = pair.firstIndex(of: "=") ?? pair.endIndex
      return (pair[..<mark], pair[mark...].dropFirst())
    }
    return pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
      .map { "\($0.name)=\($0.value)" }
      .joined(separator: "&")
  }

  private static func authenticate(_ text: String, _ key: [UInt8]) -> [UInt8] {
    let message = Array(text.utf8)
    return unsafe [UInt8](unsafeUninitializedCapacity: 32) { code, count in
      let made = unsafe EVP_Q_mac(
        nil,
        "HMAC",
        nil,
        "SHA256",
        nil,
        key,
        key.count,
        message,
        message.count,
        code.baseAddress,
        32,
        &count
      )
      precondition(
        unsafe made != nil && count == 32,
        "libcrypto without HMAC is not an installation"
      )
    }
  }
}
