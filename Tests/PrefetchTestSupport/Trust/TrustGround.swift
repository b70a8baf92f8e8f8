package import PrefetchCore

/// Authorities and keys that all servers of these tests share, since making them takes time.
package struct TrustGround: Sendable {
  package static let shared = Result { try TrustGround() }

  private typealias Form = TestCertificate.Form

  /// Alternative name of this machine: its address.
  package static let here = "IP:127.0.0.1"

  package let root: TestCertificate
  package let intermediate: TestCertificate
  /// Authority that is not trusted.
  package let stranger: TestCertificate
  /// Trusted authority with the weakest possible key.
  package let weakRoot: TestCertificate
  /// Trusted authority with a weak signature, which does not matter for a root.
  package let oldRoot: TestCertificate
  package let pastRoot: TestCertificate
  package let constrained: TestCertificate
  /// Server certificate that is itself trusted.
  package let lonely: TestCertificate
  package let rsa: TestKey
  package let shortRSA: TestKey
  package let clientRoot: TestCertificate
  package let client: TestCertificate
  package let strangeClient: TestCertificate
  private let folder: TemporaryDirectory

  package init() throws {
    rsa = try TestKey(.rsa(2_048))
    shortRSA = try TestKey(.rsa(1_024))
    root = try TestCertificate(Form("Test root", isAuthority: true))
    intermediate = try TestCertificate(Form("Intermediate", isAuthority: true), by: root)
    stranger = try TestCertificate(Form("Stranger", isAuthority: true))
    weakRoot = try TestCertificate(Form("Weak root", isAuthority: true), key: shortRSA)
    var old = Form("Old root", isAuthority: true)
    old.digest = .sha1
    oldRoot = try TestCertificate(old, key: rsa)
    var past = Form("Past root", isAuthority: true)
    past.ends = -60
    pastRoot = try TestCertificate(past)
    var narrow = Form("Constrained", isAuthority: true)
    narrow.extensions["nameConstraints"] = "critical,permitted;DNS:tree.localhost"
    constrained = try TestCertificate(narrow, by: root)
    lonely = try TestCertificate(Form("Lonely", for: Self.here))
    clientRoot = try TestCertificate(Form("Client root", isAuthority: true))
    client = try TestCertificate(Form("client"), by: clientRoot)
    strangeClient = try TestCertificate(Form("strange client"), by: stranger)
    folder = try TemporaryDirectory()
    let trusted = [root, weakRoot, oldRoot, pastRoot, lonely]
    folder.write(trusted.map(\.text).joined(), to: "ca.pem")
    for (name, certificate) in [("client", client), ("strange", strangeClient)] {
      folder.write(certificate.text, to: "\(name).pem")
      folder.write(certificate.key.text, to: "\(name).key")
    }
  }

  /// Path of the file with all trusted authorities.
  package var authorities: String {
    folder.appending("ca.pem")
  }

  package func clientFiles(_ name: String = "client") -> ConnectionRules.ClientCertificate {
    ConnectionRules.ClientCertificate(
      certificate: folder.appending("\(name).pem"),
      key: folder.appending("\(name).key")
    )
  }

  /// Creates a server's certificate.
  package func leaf(
    for names: String? = Self.here,
    by issuer: TestCertificate? = nil,
    key: TestKey? = nil,
    _ adjust: (inout TestCertificate.Form) -> Void = { _ in }
  ) throws -> TestCertificate {
    var form = TestCertificate.Form("a server", for: names)
    adjust(&form)
    return try TestCertificate(form, by: issuer ?? root, key: key)
  }
}
