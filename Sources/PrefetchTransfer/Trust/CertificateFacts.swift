package import PrefetchCore

package struct CertificateFacts: Hashable, Sendable {
  /// Subject in RFC 2253's form; not escaped for output.
  package var subject: String
  package var expires: Instant?
  /// SHA-256 of the SubjectPublicKeyInfo, as in pins.
  package var key: ContentDigest
}
