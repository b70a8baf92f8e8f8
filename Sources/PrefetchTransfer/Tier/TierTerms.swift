package import PrefetchCore
internal import PrefetchCrypto

/// Settings and codings for requests to a second tier.
package struct TierTerms {
  package var settings: TierSettings
  /// Base URL; `cas/` and `ac/` lie below.
  package var base: WebURL
  /// Adds TLS rules and credentials to a request; the digest is that of the payload.
  package var addTerms: (inout TransferRequest, ContentDigest) -> Void
  package var encode: (OriginResponse) -> [UInt8]
  package var decode: ([UInt8], String) -> OriginResponse?
  package var path: (ContentDigest) -> String

  package init(
    settings: TierSettings,
    base: WebURL,
    addTerms: @escaping (inout TransferRequest, ContentDigest) -> Void,
    encode: @escaping (OriginResponse) -> [UInt8],
    decode: @escaping ([UInt8], String) -> OriginResponse?,
    path: @escaping (ContentDigest) -> String
  ) {
    self.settings = settings
    self.base = base
    self.addTerms = addTerms
    self.encode = encode
    self.decode = decode
    self.path = path
  }

  static let longestRecord: Int64 = 64 << 10

  // MARK: Requests

  func makeRequest(_ step: TierLookup.Step, for original: TransferRequest) -> TransferRequest? {
    var request: TransferRequest
    switch step {
    case .record:
      request = self.request(original.id, .get, .record(of: original.url.string))
      request.sizeLimit = Self.longestRecord
      request.prefixLength = Int(Self.longestRecord)
      request.keepsBody = false
    case .body(let digest, let origin):
      request = self.request(original.id, original.method, .body(digest))
      request.sizeLimit = original.sizeLimit
      request.expectedSize = origin?.size ?? original.expectedSize
      request.algorithms = original.algorithms
    case .origin, .withoutTier: return nil
    }
    request.rateGroup = original.rateGroup
    request.allowances = original.allowances
    request.heedsFreeDisk = original.heedsFreeDisk
    return request
  }

  /// Makes a request; `payload` is the digest of the uploaded body, nil for none.
  func request(
    _ id: TransferID,
    _ method: TransferRequest.Method,
    _ name: TierName,
    payload: ContentDigest? = nil,
    type: String? = nil
  ) -> TransferRequest {
    var request = TransferRequest(id: id, method: method, url: name.url(below: base))
    if let type { request.headers = [HeaderField("Content-Type", type)] }
    request.allowsCoding = false
    request.idleTimeout = settings.timeout
    request.needsLength = true
    addTerms(&request, payload ?? SHA256.digest(of: []))
    return request
  }
}
