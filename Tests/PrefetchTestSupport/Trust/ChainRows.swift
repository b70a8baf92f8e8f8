internal import PrefetchCore

extension TrustRow {
  /// Rows about certificate chains and validity.
  package static let chains: [TrustRow] = [
    TrustRow("a leaf of a trusted root", .accepted) { .init(try $0.leaf()) },
    TrustRow("a leaf below an intermediate", .accepted) {
      .init(try $0.leaf(by: $0.intermediate), $0.intermediate)
    },
    TrustRow("a root that is sent along", .accepted) { .init(try $0.leaf(), $0.root) },
    TrustRow("a foreign certificate that is sent along", .accepted) {
      .init(try $0.leaf(), $0.stranger)
    },
    TrustRow("certificates that are sent in disorder", .accepted) {
      .init(try $0.leaf(by: $0.intermediate), $0.root, $0.stranger, $0.intermediate)
    },
    TrustRow("a trusted certificate that signs itself", .accepted) { .init($0.lonely) },
    TrustRow("a trusted root whose own signature is weak", .accepted) {
      .init(try $0.leaf(by: $0.oldRoot))
    },
    TrustRow("expired", .refused(.certificate, "expired")) {
      .init(try $0.leaf { $0.ends = -60 })
    },
    TrustRow("not yet valid", .refused(.certificate, "not yet valid")) {
      .init(try $0.leaf { $0.begins = 3_600 })
    },
    TrustRow("expired, with a hint at the clock", .refused(.certificate, "clock")) {
      .init(try $0.leaf { $0.ends = -60 })
    },
    TrustRow("an intermediate that expired", .refused(.certificate, "expired")) { ground in
      var form = TestCertificate.Form("Past", isAuthority: true)
      form.ends = -60
      let past = try TestCertificate(form, by: ground.root)
      return .init(try ground.leaf(by: past), past)
    },
    TrustRow("a trusted root that expired", .refused(.certificate, "expired")) {
      .init(try $0.leaf(by: $0.pastRoot))
    },
    TrustRow("signs itself", .refused(.certificate, "self-signed")) { ground in
      .init(try TestCertificate(.init("a server", for: TrustGround.here)))
    },
    TrustRow("signs itself as an authority", .refused(.certificate, "self-signed")) { ground in
      .init(try TestCertificate(.init("a server", for: TrustGround.here, isAuthority: true)))
    },
    TrustRow("an unknown authority", .refused(.certificate, "issuer")) {
      .init(try $0.leaf(by: $0.stranger))
    },
    TrustRow("an unknown authority that is sent along", .refused(.certificate, "self-signed")) {
      .init(try $0.leaf(by: $0.stranger), $0.stranger)
    },
    TrustRow("an unknown authority with a trusted one beside", .refused(.certificate, "issuer")) {
      .init(try $0.leaf(by: $0.stranger), $0.root)
    },
    TrustRow("a missing intermediate", .refused(.certificate, "issuer")) {
      .init(try $0.leaf(by: $0.intermediate))
    },
    TrustRow("an intermediate that is no authority", .refused(.certificate, "CA certificate")) {
      ground in
      let other = try ground.leaf { $0.name = "another server" }
      return .init(try ground.leaf(by: other), other)
    },
    TrustRow("an authority below one that allows none", .refused(.certificate, "path length")) {
      ground in
      var form = TestCertificate.Form("Last", isAuthority: true)
      form.constraints = "critical,CA:TRUE,pathlen:0"
      let last = try TestCertificate(form, by: ground.root)
      let below = try TestCertificate(.init("Below", isAuthority: true), by: last)
      return .init(try ground.leaf(by: below), below, last)
    },
    TrustRow("an authority that may not sign", .refused(.certificate, "")) { ground in
      var form = TestCertificate.Form("Mute", isAuthority: true)
      form.extensions["keyUsage"] = "critical,digitalSignature"
      let mute = try TestCertificate(form, by: ground.root)
      return .init(try ground.leaf(by: mute), mute)
    },
    TrustRow("a certificate for clients", .refused(.certificate, "purpose")) {
      .init(try $0.leaf { $0.extensions["extendedKeyUsage"] = "clientAuth" })
    },
    TrustRow("a certificate for mail", .refused(.certificate, "purpose")) {
      .init(try $0.leaf { $0.extensions["extendedKeyUsage"] = "emailProtection" })
    },
    TrustRow("a certificate for servers and clients", .accepted) {
      .init(try $0.leaf { $0.extensions["extendedKeyUsage"] = "serverAuth,clientAuth" })
    },
    TrustRow("an unknown critical extension", .refused(.certificate, "critical")) {
      .init(try $0.leaf { $0.extensions["1.2.3.4.5"] = "critical,DER:05:00" })
    },
  ]

  /// Rows about host names.
  package static let names: [TrustRow] = [
    TrustRow("another address", .refused(.certificate, "127.0.0.1")) {
      .init(try $0.leaf(for: "IP:127.0.0.2"))
    },
    TrustRow("another name", .refused(.certificate, "localhost"), host: "localhost") {
      .init(try $0.leaf(for: "DNS:example.com"))
    },
    TrustRow("the address when asked by name", .refused(.certificate, ""), host: "localhost") {
      .init(try $0.leaf())
    },
    TrustRow("the name when asked by address", .refused(.certificate, "")) {
      .init(try $0.leaf(for: "DNS:localhost"))
    },
    TrustRow("the address as if it were a name", .refused(.certificate, "")) {
      .init(try $0.leaf(for: "DNS:127.0.0.1"))
    },
    TrustRow("the name", .accepted, host: "localhost") { .init(try $0.leaf(for: "DNS:localhost")) },
    TrustRow("the name in capitals", .accepted, host: "localhost") {
      .init(try $0.leaf(for: "DNS:LOCALHOST"))
    },
    TrustRow("the name as the last of many", .accepted, host: "localhost") {
      .init(try $0.leaf(for: "DNS:a.example,IP:192.0.2.1,DNS:localhost"))
    },
    TrustRow("the name only where people look", .accepted, host: "localhost") {
      .init(try $0.leaf(for: nil) { $0.name = "localhost" })
    },
    TrustRow(
      "the name where people look, and another",
      .refused(.certificate, ""),
      host: "localhost"
    ) {
      .init(try $0.leaf(for: "DNS:example.com") { $0.name = "localhost" })
    },
    TrustRow("a wildcard for the name", .accepted, host: "a.tree.localhost") {
      .init(try $0.leaf(for: "DNS:*.tree.localhost"))
    },
    TrustRow("a wildcard one level up", .refused(.certificate, ""), host: "a.b.tree.localhost") {
      .init(try $0.leaf(for: "DNS:*.tree.localhost"))
    },
    TrustRow("a wildcard one level down", .refused(.certificate, ""), host: "tree.localhost") {
      .init(try $0.leaf(for: "DNS:*.tree.localhost"))
    },
    TrustRow("a wildcard in the middle", .refused(.certificate, ""), host: "a.b.tree.localhost") {
      .init(try $0.leaf(for: "DNS:a.*.tree.localhost"))
    },
    TrustRow("a wildcard for a whole top level", .refused(.certificate, ""), host: "a.localhost") {
      .init(try $0.leaf(for: "DNS:*.localhost"))
    },
    TrustRow("a wildcard for an address", .refused(.certificate, "")) {
      .init(try $0.leaf(for: "DNS:*.0.0.1"))
    },
    TrustRow("a name that ends in the right one", .refused(.certificate, ""), host: "localhost") {
      .init(try $0.leaf(for: "DNS:evil-localhost"))
    },
    TrustRow("a name within its authority's bounds", .accepted, host: "a.tree.localhost") {
      .init(try $0.leaf(for: "DNS:a.tree.localhost", by: $0.constrained), $0.constrained)
    },
    TrustRow(
      "a name beyond its authority's bounds",
      .refused(.certificate, "subtree"),
      host: "a.bush.localhost"
    ) {
      .init(try $0.leaf(for: "DNS:a.bush.localhost", by: $0.constrained), $0.constrained)
    },
  ]
}
