import Testing

/// A certificate for 127.0.0.1 by an authority that only this test knows.
struct Certificate {
  let path: String
  let key: String

  static let isPossible = Tool.isInstalled("openssl")

  /// Creates both in the working folder; the authority's file is `ca.pem`.
  init(in home: Home) throws {
    home.write("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n", to: "server.ext")
    let made = try home.shell(
      """
      set -e
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
        -subj '/CN=A test authority' -keyout ca.key -out ca.pem
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -subj '/CN=127.0.0.1' -keyout server.key -out server.csr
      openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
        -extfile server.ext -out server.pem
      """
    )
    try #require(made.status == 0, "\(made)")
    path = home.path("server.pem")
    key = home.path("server.key")
  }
}
