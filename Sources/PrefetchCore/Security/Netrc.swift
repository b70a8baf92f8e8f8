/// Credentials by host from `.netrc`; `default` is ignored, as lists may name any server.
package struct Netrc: Hashable, Sendable {
  private struct Login: Hashable, Sendable {
    var name = ""
    var password = ""
  }

  private var logins: [String: Login] = [:]

  package init(_ text: String) {
    var words = Words(text)
    var host: String?
    while let word = words.next() {
      switch word {
      case "machine":
        host = words.next()?.lowercased()
        // The first entry of a host counts.
        if let name = host, logins.updateValue(logins[name] ?? Login(), forKey: name) != nil {
          host = nil
        }
      case "default":
        host = nil
      case "login":
        let value = words.next() ?? ""
        if let host { logins[host]?.name = value }
      case "password":
        let value = words.next() ?? ""
        if let host { logins[host]?.password = value }
      case "account":
        _ = words.next()
      case "macdef":
        words.skipMacro()
      default:
        continue
      }
    }
  }

  package var secrets: [String] {
    logins.values.flatMap { [$0.password, Self.code($0)] }.filter { !$0.isEmpty }
  }

  package func field(for host: String) -> HeaderField? {
    guard let login = logins[host] else { return nil }
    return HeaderField("Authorization", "Basic \(Self.code(login))")
  }

  private static func code(_ login: Login) -> String {
    Base64.encode("\(login.name):\(login.password)".utf8)
  }

  /// Tokens separated by blanks, quoted if they hold blanks; `#` begins a comment.
  private struct Words {
    private var rest: Substring

    init(_ text: String) {
      rest = text[...]
    }

    mutating func next() -> String? {
      rest = rest.drop { $0.isWhitespace }
      while rest.first == "#" {
        rest = rest.drop { !$0.isNewline }.drop { $0.isWhitespace }
      }
      guard let first = rest.first else { return nil }
      if first == "\"" { return quoted() }
      let word = rest.prefix { !$0.isWhitespace }
      rest = rest[word.endIndex...]
      return String(word)
    }

    private mutating func quoted() -> String {
      rest.removeFirst()
      var word = ""
      while let character = rest.popFirst(), character != "\"" {
        guard character == "\\", let escaped = rest.popFirst() else {
          word.append(character)
          continue
        }
        switch escaped {
        case "n": word.append("\n")
        case "r": word.append("\r")
        case "t": word.append("\t")
        default: word.append(escaped)
        }
      }
      return word
    }

    /// Skips a macro, which ends at the next empty line.
    mutating func skipMacro() {
      var isEmpty = false
      while let character = rest.popFirst() {
        if character.isNewline {
          if isEmpty { return }
          isEmpty = true
        } else if !character.isWhitespace {
          isEmpty = false
        }
      }
    }
  }
}
