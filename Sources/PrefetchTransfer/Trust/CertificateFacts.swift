package import PrefetchCore

/// What people want to know of a certificate in a verified chain.
package struct CertificateFacts: Hashable, Sendable {
  /// Its name in RFC 2253's form; the caller that prints it makes it harmless first.
  package var subject: String
  package var expires: Instant?
  /// SHA-256 of its SubjectPublicKeyInfo, which pins name.
  package var key: ContentDigest
}
