import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == TransportSettings.Proxy {
  static var proxy: Self {
    scalar(
      "a proxy URL, `env` or `none`",
      summary: "URL|env|none",
      schema: .pattern(Pattern.holdsNoReference + Pattern.proxy, "proxy"),
      code: "config.bad-proxy"
    ) { text throws(ValueComplaint) in
      switch text {
      case "env": return .environment(http: nil, https: nil, exceptions: nil)
      case "none", "direct", "": return .none
      default:
        _ = try ProxyURL(text)
        return .url(Secret(text))
      }
    } encode: { proxy in
      switch proxy {
      case .environment: .string("env")
      case .none: .string("none")
      case .url(let secret): .string((try? ProxyURL(secret.value))?.shown ?? Secret.mask)
      }
    }
    .checked { proxy, node, decoder in
      guard case .url(let secret) = proxy, let url = try? ProxyURL(secret.value),
        let password = url.password
      else { return }
      decoder.recordSecret(password, literallyAt: node)
      decoder.recordSecret(secret.value)
    }
  }
}

private struct ProxyURL {
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  private let scheme: String
  private let host: Substring
  private let user: Substring?

  init(_ text: String) throws(ValueComplaint) {
    let isSecret = text.contains("@")
    let subject = isSecret ? "the proxy" : "`\(text)`"
    guard let separator = text.firstRange(of: "://") else {
      throw ValueComplaint(
        "\(subject) has no scheme",
        hint: "write `http://` before it",
        isSecret: isSecret
      )
    }
    scheme = text[..<separator.lowerBound].lowercased()
    guard Self.schemes.contains(scheme) else {
      throw ValueComplaint(
        "\(subject) has the unknown scheme `\(scheme)`",
        hint: "known are \(Self.schemes.map { "`\($0)`" }.joined(separator: ", "))",
        isSecret: isSecret
      )
    }
    let authority = text[separator.upperBound...]
    let at = authority.lastIndex(of: "@")
    host = at.map { authority[authority.index(after: $0)...] } ?? authority
    user = at.map { authority[..<$0] }
    let url: WebURL
    do throws(WebURL.Fault) {
      // Hosts and ports of proxies follow the rules of HTTP URLs, whatever the scheme.
      url = try WebURL("http://\(host)")
    } catch {
      throw ValueComplaint("\(subject) \(error)", isSecret: isSecret)
    }
    guard url.path == "/", url.query == nil else {
      throw ValueComplaint(
        "\(subject) has a path, which means nothing for a proxy",
        isSecret: isSecret
      )
    }
  }

  var shown: String {
    "\(scheme)://\(user == nil ? "" : "\(Secret.mask)@")\(host)"
  }

  var password: String? {
    guard let user, let colon = user.firstIndex(of: ":") else { return nil }
    return String(user[user.index(after: colon)...])
  }
}
