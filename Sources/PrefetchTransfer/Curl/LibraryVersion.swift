internal import CCurl
internal import COpenSSL

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

  package var curl: String
  /// Version as a number for comparisons: `0x075801` is 7.88.1.
  private var number: UInt32
  package var tls: String?
  package var features: Set<Feature>
  /// Whether libcurl uses this program's OpenSSL, so that its pointers are valid here.
  let hasOurOpenSSL: Bool

  /// Reads the loaded libcurl, which may be newer than the headers.
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

  var usesOpenSSL: Bool {
    ["OpenSSL", "LibreSSL", "BoringSSL", "AWS-LC", "quictls"].contains {
      tls?.hasPrefix($0) == true
    }
  }

  /// Whether libcurl appends a first header with a leading blank to freed memory (fixed in 8.1.0).
  var keepsStaleHeader: Bool {
    number < 0x08_01_00
  }

  /// Whether a broken HTTP/2 frame behind good ones leaves a transfer waiting (fixed in 8.1.0).
  var overlooksEndOfSession: Bool {
    number < 0x08_01_00
  }

  /// Whether the body of a refused HTTP/2 upload may be taken for another request, from freed
  /// memory (CVE-2026-92392, fixed in 8.23.0).
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
