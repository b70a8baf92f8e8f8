package import PrefetchCore
import PrefetchDocuments

/// The way requests leave: straight, as the environment says, or through one server.
package enum Proxy: Hashable, Sendable {
  case environment
  case direct
  case server(Server)

  package struct Server: Hashable, Sendable {
    /// As libcurl takes it, with user-info.
    package var url: Secret
    /// The same without user name and password.
    package var shown: String
  }
}

extension ValueType where Value == Proxy {
  static var proxy: Self {
    scalar("a proxy URL, `env` or `none`", summary: "URL|env|none", code: "config.bad-proxy") {
      text throws(ValueComplaint) in
      switch text {
      case "env": return .environment
      case "none", "direct", "": return .direct
      default: return .server(try ProxyURL.parse(text))
      }
    } encode: { proxy in
      switch proxy {
      case .environment: .string("env")
      case .direct: .string("none")
      case .server(let server): .string(server.shown)
      }
    }
    .checked { proxy, node, decoder in
      guard case .server(let server) = proxy, let password = ProxyURL.password(in: server.url.value)
      else { return }
      decoder.noteSecret(password, literallyAt: node)
      decoder.noteSecret(server.url.value)
    }
  }
}

private enum ProxyURL {
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  static func parse(_ text: String) throws(ValueComplaint) -> Proxy.Server {
    let isSecret = text.contains("@")
    let subject = isSecret ? "the proxy" : "`\(text)`"
    guard let separator = text.firstRange(of: "://") else {
      throw ValueComplaint(
        "\(subject) has no scheme",
        hint: "write `http://` before it",
        isSecret: isSecret
      )
    }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard schemes.contains(scheme) else {
      throw ValueComplaint(
        "\(subject) has the unknown scheme `\(scheme)`",
        hint: "known are \(schemes.map { "`\($0)`" }.joined(separator: ", "))",
        isSecret: isSecret
      )
    }
    let authority = text[separator.upperBound...]
    let hostStart =
      authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
    let host = authority[hostStart...]
    do {
      // The rules of hosts and ports are the same whatever speaks there.
      let url = try WebURL("http://\(host)")
      guard url.path == "/", url.query == nil else {
        throw ValueComplaint(
          "\(subject) has a path, which means nothing for a proxy",
          isSecret: isSecret
        )
      }
    } catch let complaint as ValueComplaint {
      throw complaint
    } catch let fault as WebURL.Fault {
      throw ValueComplaint("\(subject) \(fault)", isSecret: isSecret)
    } catch {
      throw ValueComplaint("\(subject) is no URL", isSecret: isSecret)
    }
    let mask = isSecret ? "\(Secret.mask)@" : ""
    return Proxy.Server(url: Secret(text), shown: "\(scheme)://\(mask)\(host)")
  }

  static func password(in url: String) -> String? {
    guard let separator = url.firstRange(of: "://"), let at = url.lastIndex(of: "@"),
      separator.upperBound < at
    else { return nil }
    let user = url[separator.upperBound..<at]
    guard let colon = user.firstIndex(of: ":") else { return nil }
    return String(user[user.index(after: colon)...])
  }
}
