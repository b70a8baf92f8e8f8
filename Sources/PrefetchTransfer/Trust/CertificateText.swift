internal import COpenSSL
internal import Glibc
internal import PrefetchCore

enum CertificateText {
  static func subject(of certificate: OpaquePointer) -> String {
    unsafe text { unsafe prefetch_certificate_write_subject(certificate, $0) }
  }

  static func issuer(of certificate: OpaquePointer) -> String {
    unsafe text { unsafe prefetch_certificate_write_issuer(certificate, $0) }
  }

  /// Returns the certificate's hosts: `DNS:example.org, IP Address:127.0.0.1`.
  static func names(of certificate: OpaquePointer) -> String {
    let index = unsafe X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
    guard index >= 0, let names = unsafe X509_get_ext(certificate, index) else { return "" }
    return unsafe text { unsafe X509V3_EXT_print($0, names, 0, 0) }
  }

  static func expiry(of certificate: OpaquePointer) -> Instant? {
    var time = unsafe tm()
    guard let end = unsafe X509_get0_notAfter(certificate),
      unsafe ASN1_TIME_to_tm(end, &time) == 1
    else { return nil }
    return unsafe Instant(seconds: Int64(timegm(&time)))
  }

  private static func text(_ write: (OpaquePointer) -> CInt) -> String {
    guard let output = unsafe BIO_new(BIO_s_mem()) else { return "" }
    defer { unsafe BIO_free(output) }
    _ = unsafe write(output)
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let size = unsafe BIO_read(output, &bytes, CInt(bytes.count))
    return String(decoding: bytes.prefix(max(0, Int(size))), as: UTF8.self)
  }
}

extension ShownCertificate {
  init?(_ store: OpaquePointer) {
    guard let certificate = unsafe X509_STORE_CTX_get0_cert(store) else { return nil }
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    let connection = unsafe X509_STORE_CTX_get_ex_data(store, index)
    let version = unsafe connection.flatMap { unsafe SSL_get_version(OpaquePointer($0)) }
    unsafe self.init(
      protocolVersion: version.map { unsafe String(cString: $0) } ?? "",
      subject: CertificateText.subject(of: certificate),
      names: CertificateText.names(of: certificate),
      issuer: CertificateText.issuer(of: certificate),
      expires: CertificateText.expiry(of: certificate)
    )
  }
}
