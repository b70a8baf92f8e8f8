import CCurl
import Glibc
import PrefetchCore
import Testing

@testable import PrefetchTransfer

@Suite("Translation of libcurl's codes")
struct CurlFaultTests {
  private func failure(
    _ code: CURLcode,
    phase: CurlFault.Phase = .awaitingHead,
    detail: String = "",
    systemError: CInt = 0,
    proxyStatus: Int = 0
  ) throws -> Failure {
    let fault = CurlFault(
      code: code,
      phase: phase,
      detail: detail,
      systemError: Int(systemError),
      proxyStatus: proxyStatus
    )
    let url = try WebURL("https://example.com/a?signature=secret")
    return fault.failure(for: url, settings: TransportSettings(userAgent: "test"))
  }

  @Test(
    "Each libcurl code has one meaning, and only connectivity is retried at once",
    arguments: [
      (CURLE_COULDNT_RESOLVE_HOST, ErrorCode.dns), (CURLE_COULDNT_RESOLVE_PROXY, .dns),
      (CURLE_COULDNT_CONNECT, .connect), (CURLE_PROXY, .connect),
      (CURLE_OPERATION_TIMEDOUT, .timeout), (CURLE_SSL_CONNECT_ERROR, .tls),
      (CURLE_PEER_FAILED_VERIFICATION, .certificate), (CURLE_SSL_CACERT_BADFILE, .certificate),
      (CURLE_SSL_PINNEDPUBKEYNOTMATCH, .pinMismatch), (CURLE_PARTIAL_FILE, .reset),
      (CURLE_GOT_NOTHING, .reset), (CURLE_SEND_ERROR, .reset), (CURLE_RECV_ERROR, .reset),
      (CURLE_HTTP2, .reset), (CURLE_HTTP2_STREAM, .reset), (CURLE_HTTP3, .reset),
      (CURLE_WEIRD_SERVER_REPLY, .badResponse), (CURLE_BAD_CONTENT_ENCODING, .badResponse),
      (CURLE_UNSUPPORTED_PROTOCOL, .badResponse), (CURLE_OUT_OF_MEMORY, .badResponse),
      (CURLE_BAD_FUNCTION_ARGUMENT, .badResponse), (CurlFault.tooLarge, .badResponse),
      (CURLE_FILESIZE_EXCEEDED, .tooLarge), (CURLE_URL_MALFORMAT, .badURL),
      (CURLE_READ_ERROR, .failed),
    ]
  )
  func codes(code: CURLcode, expected: ErrorCode) throws {
    let failure = try failure(code)
    #expect(failure.code == expected)
    #expect(failure.isTransient == (expected.category == .connectivity))
    #expect(!failure.message.contains("secret"))
    #expect(!failure.message.hasSuffix("."))
  }

  @Test("The detail of a code makes the difference")
  func details() throws {
    let unreachable = try failure(CURLE_COULDNT_CONNECT, systemError: ENETUNREACH)
    #expect(unreachable.code == .noNetwork)
    #expect(unreachable.isTransient)
    let silent = try failure(CURLE_OPERATION_TIMEDOUT, phase: .connecting)
    #expect(silent.message == "no connection to `example.com` within 10.0 seconds")
    let expired = try failure(
      CURLE_PEER_FAILED_VERIFICATION,
      detail: "SSL certificate problem: certificate has expired"
    )
    #expect(expired.message.hasSuffix("check this machine's clock"))
    let refused = try failure(CURLE_RECV_ERROR, phase: .connecting, proxyStatus: 502)
    #expect(refused.code == .connect)
    #expect(refused.isTransient)
    let memory = try failure(CURLE_OUT_OF_MEMORY, phase: .receivingBody)
    #expect(memory.code == .failed)
  }

  @Test("A trailer that libcurl refuses is the server's fault, by either code")
  func trailers() throws {
    for code in [CURLE_BAD_FUNCTION_ARGUMENT, CurlFault.tooLarge] {
      let failure = try failure(code, phase: .receivingBody)
      #expect(failure.code == .badResponse)
      #expect(!failure.isTransient)
    }
    #expect(try failure(CURLE_BAD_FUNCTION_ARGUMENT, phase: .connecting).code == .failed)
  }

  @Test("A lost connection is recognised, whatever the name of its host")
  func chunkyHost() throws {
    let failure = try failure(CURLE_RECV_ERROR, detail: "Recv failure: no chunk.example.com")
    #expect(failure.code == .reset)
  }

  @Test(
    "Broken chunks are recognised by messages, which differ between libcurl's versions",
    arguments: [
      "Malformed encoding found in chunked-encoding", "chunk hex-length longer than 16",
      "chunk hex-length char not a hex digit: 0x2d", "invalid chunk size: '-1'",
    ]
  )
  func chunks(detail: String) throws {
    let failure = try failure(CURLE_RECV_ERROR, phase: .receivingBody, detail: detail)
    #expect(failure.code == .badResponse)
    #expect(!failure.isTransient)
  }
}
