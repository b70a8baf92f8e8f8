import Testing

/// A place that a server may send us to, and where that must end.
struct RedirectTarget: Sendable {
  enum End: Hashable, Sendable {
    /// At the first origin, which receives the same headers again.
    case same
    /// At another origin, which must not receive any secret.
    case other
    case secure
    /// At the first server under another name, which is another origin.
    case renamed
    /// The redirect fails without a connection to any other server.
    case fails(String)
    /// The redirect fails without a request; a handshake is permitted.
    case failsAfterRequest(String)

    init(_ text: String) {
      switch text {
      case "same": self = .same
      case "other": self = .other
      case "secure": self = .secure
      case "renamed": self = .renamed
      case "pin_mismatch": self = .failsAfterRequest(text)
      default: self = .fails(text)
      }
    }
  }

  var name: String
  /// Value of `Location`, with placeholders: `FIRST` and `OTHER` for `host:port`, `SCHEME` of the
  /// first server, the ports `P1` (first), `P2` (other), `P3` (far) and `PS` (secure), and `START`.
  var location: String
  /// From a server over plain http, and over https.
  var insecure: End
  var secure: End

  init(_ name: String, _ location: String, _ insecure: String, _ secure: String? = nil) {
    self.name = name
    self.location = location
    self.insecure = End(insecure)
    self.secure = End(secure ?? insecure)
  }

  static let all = near + elsewhere + schemes + hosts + spellings + endless

  private static let near = [
    Self("a relative path", "next", "same"), Self("an absolute path", "/next", "same"),
    Self("a query", "?next=1", "same"), Self("dots", "./a/../next", "same"),
    Self("a URL without its scheme", "//FIRST/next", "same"),
    Self("a whole URL", "SCHEME://FIRST/next", "same"),
    Self("a URL in capitals", "SCHEME://FIRST/NEXT", "same"),
    Self("a fragment", "/next#fragment", "same"), Self("blanks around", "  /next  ", "same"),
    Self("escaped line ends", "/next%0d%0aX-Evil:%20yes", "same"),
    Self("an escaped slash", "/%2e%2e/next", "same"),
  ]

  private static let elsewhere = [
    Self("another port", "http://OTHER/next", "other", "redirect_forbidden"),
    Self("another name", "http://localhost:P2/next", "other", "redirect_forbidden"),
    Self("itself by another name", "http://localhost:P1/next", "renamed", "redirect_forbidden"),
    Self(
      "a host that no exception names",
      "http://127.0.0.2:P3/next",
      "transport_security",
      "redirect_forbidden"
    ),
    Self("TLS", "https://127.0.0.1:PS/next", "secure"),
    Self("a pinned host", "https://localhost:PS/next", "secure"),
    Self("a host that has not the pinned key", "https://127.0.0.2:PS/next", "pin_mismatch"),
    Self("another port without a scheme", "//127.0.0.1:PS/next", "other-protocol", "secure"),
  ].filter { $0.insecure != .fails("other-protocol") }

  private static let schemes =
    [
      "file:///etc/passwd", "FILE:///etc/passwd", "file://127.0.0.1/etc/passwd",
      "ftp://127.0.0.1:P2/x", "gopher://127.0.0.1:P2/_x", "data:text/plain,x",
      "javascript:alert(1)", "ldap://127.0.0.1:P2/x", "ws://127.0.0.1:P2/x",
      "tftp://127.0.0.1:P2/x", "dict://127.0.0.1:P2/x", "about:blank",
    ].map { Self("the scheme of \($0)", $0, "redirect_forbidden") }

  private static let hosts = [
    Self("a user and a password", "http://user:secret@OTHER/x", "redirect_forbidden"),
    Self("a user", "https://user@127.0.0.1:PS/x", "redirect_forbidden"),
    Self("an empty user", "https://@127.0.0.1:PS/x", "redirect_forbidden"),
    Self("a user that looks like us", "http://FIRST@OTHER/x", "redirect_forbidden"),
    Self("no host", "http:///x", "bad_response"),
    Self("half a host", "http://[::1/x", "bad_response"),
    Self("a line end in the host", "http://127.0.0.1%0d%0a:P2/x", "bad_response"),
    Self("an escaped host", "http://%6c%6fcalhost:P2/x", "bad_response"),
    Self("the port 0", "http://127.0.0.1:0/x", "bad_response"),
    Self("a port too large", "http://127.0.0.1:99999/x", "bad_response"),
    Self("a port that is no number", "http://127.0.0.1:P2x/x", "bad_response"),
    Self(
      "an international name",
      "http://bücher.example/x",
      "transport_security",
      "redirect_forbidden"
    ),
  ]

  /// Addresses that parsers read differently.
  private static let spellings =
    [
      "127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.1.", "127.0.0.01",
      "１２７.0.0.1", "127。0。0。1",
    ].map { Self("the host \($0)", "http://\($0):P2/x", "bad_response") }
    + [
      Self("backslashes", "http:\\\\127.0.0.1:P2\\x", "bad_response"),
      Self("a slash and a backslash", "/\\127.0.0.1:P2/x", "bad_response"),
      Self("two backslashes", "\\\\127.0.0.1:P2/x", "bad_response"),
      Self("a blank within", "http://127.0.0.1:P2 @x/", "redirect_forbidden"),
      Self("a tab within", "http://127.0.0.1:P2\t/x", "bad_response"),
    ]

  private static let endless = [
    Self("itself", "START", "redirect_limit"), Self("nothing", "", "redirect_limit"),
    Self("its own fragment", "#x", "redirect_limit"),
    Self("a ring of two", "/ring", "redirect_limit"),
    Self("one hop too many", "/hop/1", "redirect_limit"),
    Self("as many hops as may be", "/hop/2", "same"),
    Self(
      "more than 8 KiB",
      "/" + String(repeating: "a", count: 8_200),
      "bad_response"
    ),
    Self("there and back", "SCHEME://AWAY/back", "same"),
  ]
}
