import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments
import PrefetchSystem
import Testing

@Suite("The signature of a request to a bucket")
struct BucketSignatureTests {
  @Test("The signature of a bucket request equals botocore's, for twenty requests")
  func likeBotocore() throws {
    let samples = try Self.samples()
    #expect(samples.count == 20)
    let now = try #require(Timestamp.parse("2026-11-24T08:09:10Z"))
    for sample in samples {
      let text = { (key: String) in sample[key]?.scalar.flatMap { $0.kind == .null ? nil : $0.text }
      }
      let written = try #require(text("url"))
      let url = try WebURL(written)
      let signature = BucketSignature(
        accessKey: "AKIDEXAMPLE",
        secretKey: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        sessionToken: text("token").map { Secret($0) },
        region: try #require(text("region"))
      )
      let body = try #require(text("body").flatMap { Hexadecimal.decode($0) })
      // The address is used as written, since `WebURL` removes dots from its path.
      let address = written.dropFirst("http://".count)
      let target = address.drop { $0 != "/" }
      let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      var request = BucketSignature.Request(
        try #require(text("method")),
        host: url.authority,
        path: String(parts.first ?? ""),
        payload: SHA256.digest(of: body)
      )
      request.query = parts.count > 1 ? String(parts[1]) : nil
      request.headers = (sample["headers"]?.mapping ?? []).map {
        HeaderField($0.key, $0.value.scalar?.text ?? "")
      }
      let headers = signature.headers(of: request, at: now)
      let made = headers.first { $0.name == "Authorization" }?.value
      #expect(made == text("authorization"), "\(url)")
    }
  }

  private static func samples() throws -> [Node] {
    let folder = "\(#filePath)".split(separator: "/").dropLast().map { "/\($0)" }.joined()
    let path = "\(folder)/Signatures/signatures.json"
    let bytes = try FileReading.read(path, limit: 1 << 20)
    let outcome = DocumentReader.read(bytes, source: path, syntax: .json)
    return try #require(outcome.node?.sequence)
  }
}
