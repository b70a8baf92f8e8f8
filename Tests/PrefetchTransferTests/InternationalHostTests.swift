internal import CCurl
internal import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// libcurl's handling of host names beyond ASCII.
@Suite("libcurl's names", .serialized)
struct InternationalHostTests {
  @Test(
    "`libcurl` maps each host name as we do, within our limits",
    arguments: InternationalNames.all
  )
  func mapping(name: String, expected: String?) throws {
    // libcurl reads names in the locale's encoding, which the test process does not set.
    _ = unsafe setlocale(LC_CTYPE, "C.UTF-8")
    defer { _ = unsafe setlocale(LC_CTYPE, "C") }
    let handle = unsafe try #require(curl_url())
    defer { unsafe curl_url_cleanup(handle) }
    let status = unsafe "https://\(name)/".withCString {
      unsafe curl_url_set(handle, CURLUPART_URL, $0, 0)
    }
    #expect(status == CURLUE_OK)
    var host: UnsafeMutablePointer<CChar>?
    let punycode: UInt32 = 1 << 12
    let outcome = unsafe curl_url_get(handle, CURLUPART_HOST, &host, punycode)
    defer { unsafe curl_free(host) }
    let converted = unsafe outcome == CURLUE_OK ? host.map { unsafe String(cString: $0) } : nil
    guard let own = InternationalName.ascii(name) else { return }
    #expect(converted == own)
  }
}
