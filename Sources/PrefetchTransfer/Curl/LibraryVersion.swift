internal import CCurl
internal import COpenSSL

/// Which libcurl this process runs with and what it can do.
package struct LibraryVersion: Hashable, Sendable {
  package enum Feature: String, Hashable, Sendable, CaseIterable {
    case http2 = "HTTP/2"
    case http3 = "HTTP/3"
    case gzip
    case brotli
    case zstd
    case ipv6 = "IPv6"
    case asynchronousLookup = "asynchronous DNS"
  }

  /// `7.88.1`.
  package var curl: String
  /// The same for comparisons: `0x075801`.
  private var number: UInt32
  /// `OpenSSL/3.0.15`, nil for a libcurl without TLS.
  package var tls: String?
  package var features: Set<Feature>
  /// Whether libcurl uses the very OpenSSL that we are linked with, so that what it hands us is what
  /// we take it for.
  let hasOurOpenSSL: Bool

  /// Asks the libcurl that is loaded, which may be newer than the one built against.
  package init() {
    let information = unsafe prefetch_curl_version_info().pointee
    unsafe curl = information.version.map { unsafe String(cString: $0) } ?? "unknown"
    unsafe tls = information.ssl_version.map { unsafe String(cString: $0) }
    unsafe number = information.version_num
    hasOurOpenSSL =
      tls == "OpenSSL/\(unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)))"
    let bits = unsafe information.features
    features = Set(Feature.allCases.filter { bits & $0.bit != 0 })
  }

  /// Whether cipher lists are written as OpenSSL and its kin read them.
  var usesOpenSSL: Bool {
    ["OpenSSL", "LibreSSL", "BoringSSL", "AWS-LC", "quictls"].contains {
      tls?.hasPrefix($0) == true
    }
  }

  /// Whether a first header that begins with a blank is appended to freed memory: to the last header
  /// of the answer before (mended in 8.1.0).
  var keepsStaleHeader: Bool {
    number < 0x08_01_00
  }

  /// Whether a transfer goes on waiting where a broken frame of HTTP/2, read together with good
  /// ones, has ended the session (mended in 8.1.0).
  var overlooksEndOfSession: Bool {
    number < 0x08_01_00
  }

  /// Whether a body of an upload whose stream of HTTP/2 is refused may be taken for another request,
  /// and freed memory for its transfer (as CVE-2026-92392 has it, mended in 8.23.0).
  var mishandlesRefusedUpload: Bool {
    number >= 0x08_01_00 && number < 0x08_17_00
  }

  package func has(_ feature: Feature) -> Bool {
    features.contains(feature)
  }
}

extension LibraryVersion.Feature {
  fileprivate var bit: CInt {
    switch self {
    case .http2: CURL_VERSION_HTTP2
    case .http3: CURL_VERSION_HTTP3
    case .gzip: CURL_VERSION_LIBZ
    case .brotli: CURL_VERSION_BROTLI
    case .zstd: CURL_VERSION_ZSTD
    case .ipv6: CURL_VERSION_IPV6
    case .asynchronousLookup: CURL_VERSION_ASYNCHDNS
    }
  }
}
