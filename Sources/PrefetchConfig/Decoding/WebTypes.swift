package import PrefetchCore
import PrefetchDocuments

extension ScalarSchema {
  fileprivate static let urlReference = pattern(
    Pattern.holdsNoReference + Pattern.reference,
    "url_reference",
    .all
  )
  .acceptingBooleans

  fileprivate static let location = pattern(
    Pattern.holdsNoReference + Pattern.location,
    "url_or_path",
    .all
  )
  .acceptingBooleans
}

extension ValueType where Value == WebURL {
  static var url: Self {
    let declared = ValueType<DeclaredURL>.declared(
      .pattern(Pattern.holdsNoReference + Pattern.url, "url")
    ) { _ in nil }
    return Self(
      shape: declared.shape,
      decode: { node, decoder in
        guard let value = declared.decode(node, &decoder) else { return nil }
        if let digest = value.digests.first {
          decoder.warnOfUselessFragment("\(digest.algorithm.rawValue)=…", at: node)
        }
        return value.url
      },
      encode: { .string($0.redacted) }
    )
  }
}

extension ValueType where Value == DeclaredURL {
  /// An item's URL, possibly relative to `base`; a fragment may declare its digest.
  static var itemURL: Self {
    declared(.urlReference) { $0.baseURL }
  }

  fileprivate static func declared(
    _ schema: @autoclosure @escaping @Sendable () -> ScalarSchema,
    _ base: @escaping @Sendable (NodeDecoder) -> WebURL?
  ) -> Self {
    located(
      "a URL",
      summary: "URL",
      schema: schema(),
      code: "config.bad-url"
    ) { text, node, decoder throws(ValueComplaint) in
      let declared = try WebAddress.declared(text, base: base(decoder))
      if let other = declared.otherFragment { decoder.warnOfUselessFragment(other, at: node) }
      return declared
    } encode: {
      .string($0.url.redacted)
    }
  }
}

extension NodeDecoder {
  mutating func warnOfUselessFragment(_ fragment: String, at node: Node) {
    lint(
      "config.fragment",
      "`#\(fragment)` has no meaning here and is never sent",
      hint: "leave it out; a digest of an item is written `#sha256=…`",
      at: node
    )
  }
}

enum WebAddress {
  static func declared(_ text: String, base: WebURL?) throws(ValueComplaint) -> DeclaredURL {
    do throws(WebURL.Fault) {
      return try DeclaredURL(text, base: base)
    } catch {
      throw complaint(about: text, error)
    }
  }

  static func complaint(about text: String, _ fault: WebURL.Fault) -> ValueComplaint {
    let isSecret = fault == .userInformation
    let subject = isSecret ? "the URL" : "`\(WebURL.redacted(text))`"
    return ValueComplaint("\(subject) \(fault)", code: "config.bad-url", isSecret: isSecret)
  }

  static func isRemote(_ text: String) -> Bool {
    text.contains("://")
  }
}

package enum ManifestLocation: Hashable, Sendable {
  case remote(WebURL)
  case local(String)
  /// Short address, which depends on the segment's `api` or `hf.endpoint`.
  case short(ShortAddress)
}

extension ValueType where Value == ManifestLocation {
  static var manifestLocation: Self {
    located("a URL or a path", summary: "URL or path", schema: .location, code: "config.bad-url") {
      text,
      node,
      decoder throws(ValueComplaint) in
      let location = try ManifestLocation(text) { decoder.resolver.resolve($0, in: node.source) }
      if case .remote = location, let other = try WebAddress.declared(text, base: nil).otherFragment
      {
        decoder.warnOfUselessFragment(other, at: node)
      }
      return location
    } encode: {
      if case .short(let address) = $0 { return .string(address.text) }
      return .string(WebURL.redacted($0.string))
    }
  }
}

extension ManifestLocation {
  init(_ text: String, resolve: (String) -> String) throws(ValueComplaint) {
    guard !text.isEmpty else { throw ValueComplaint("an empty text is neither a URL nor a path") }
    if let address = try Self.short(text) {
      self = .short(address)
    } else if WebAddress.isRemote(text) {
      let declared = try WebAddress.declared(text, base: nil)
      // A manifest changes, so that its digest cannot be declared in advance.
      guard declared.digests.isEmpty else {
        throw ValueComplaint(
          "a manifest is pinned by who signs it, not by a digest in its URL",
          hint: "remove the part after `#`, and set `manifest_keys`"
        )
      }
      self = .remote(declared.url)
    } else {
      self = .local(resolve(text))
    }
  }

  /// Returns nil for a text that is not meant as a short address.
  static func short(_ text: String) throws(ValueComplaint) -> ShortAddress? {
    do throws(ShortAddress.Fault) {
      return try ShortAddress(text)
    } catch {
      throw ValueComplaint("`\(text)` \(error.message)", code: "config.bad-url")
    }
  }

  package var string: String {
    switch self {
    case .short(let address): address.text
    case .remote(let url): url.string
    case .local(let path): path
    }
  }
}

extension ValueType where Value == String {
  static var path: Self {
    located("a path", summary: "path", schema: .text("path", "(?=[^\\u0000]+$)")) {
      text,
      node,
      decoder throws(ValueComplaint) in
      guard !text.isEmpty, !text.unicodeScalars.contains("\0") else {
        decoder.report("config.bad-value", "`\(decoder.lastKey)` is not a usable path", at: node)
        return nil
      }
      return decoder.resolver.resolve(text, in: node.source)
    } encode: {
      // Only an unset path is empty.
      $0.isEmpty ? .null : .string($0)
    }
  }

  /// A path, or the word `none`.
  static var pathOrNone: Self {
    let path = Self.path
    return Self(
      shape: path.shape,
      decode: { node, decoder in
        node.scalar?.text == Configuration.noLockfile
          ? Configuration.noLockfile : path.decode(node, &decoder)
      },
      encode: path.encode
    )
  }

  /// A word of a command; a first word that is a relative path is made absolute.
  static var program: Self {
    located("text", summary: "text", schema: .text("text")) {
      text,
      node,
      decoder throws(ValueComplaint) in
      let isPath = text.contains("/") && decoder.path.steps.last == .index(0)
      return isPath ? decoder.resolver.resolve(text, in: node.source) : text
    } encode: {
      .string($0)
    }
  }

  /// A path to write, `-` for stdout, `+PATH` to append.
  static var outputPath: Self {
    located("a path", summary: "path", schema: .text("output", "(?!\\+?$)")) {
      text,
      node,
      decoder throws(ValueComplaint) in
      if text == "-" { return text }
      let mark = text.hasPrefix("+") ? "+" : ""
      let path = text.dropFirst(mark.count)
      guard !path.isEmpty else {
        decoder.report("config.bad-value", "`\(decoder.lastKey)` names no file", at: node)
        return nil
      }
      return mark + decoder.resolver.resolve(String(path), in: node.source)
    } encode: {
      .string($0)
    }
  }

  static var manifestTemplate: Self {
    located(
      "a URL or path with `{segment}`",
      summary: "URL or path",
      schema: .pattern(Pattern.holdsNoReference + Pattern.template),
      code: "config.bad-url"
    ) { text, node, decoder throws(ValueComplaint) in
      guard text.contains("{segment}") else {
        decoder.report(
          "config.bad-value",
          "`\(decoder.lastKey)` needs `{segment}` where the segment's name goes",
          hint: "write for instance `https://cdn.example.com/{segment}.json`",
          at: node
        )
        return nil
      }
      if try ManifestLocation.short(text.replacing("{segment}", with: "x")) != nil {
        return text
      }
      guard WebAddress.isRemote(text) else {
        return decoder.resolver.resolve(text, in: node.source)
      }
      _ = try WebAddress.declared(text.replacing("{segment}", with: "x"), base: nil)
      return text
    } encode: {
      .string(WebURL.redacted($0).replacing("%7Bsegment%7D", with: "{segment}"))
    }
  }

  /// A JSON Pointer whose last token may be `*`.
  static var jsonPointer: Self {
    scalar(
      "a JSON pointer such as `/files/*`",
      summary: "JSON pointer",
      schema: .pattern(Pattern.holdsNoReference + "(?:/[\\s\\S]*)?", "json_pointer")
    ) { text throws(ValueComplaint) in
      guard text.isEmpty || text.hasPrefix("/") else {
        throw ValueComplaint("`\(text)` is not a JSON pointer", hint: "begin it with `/`")
      }
      return text
    } encode: {
      .string($0)
    }
  }

  /// A ``NamePattern``.
  static var namePattern: Self {
    scalar(
      "a pattern of names such as `tool-@v.tar.gz`",
      summary: "name pattern",
      schema: .pattern(
        Pattern.holdsNoReference + "(?:[^@*]|@@|@\\*)*@v(?:[^@*]|@@|@\\*)*",
        "name_pattern"
      )
    ) { text throws(ValueComplaint) in
      do throws(NamePatternFault) {
        _ = try NamePattern(text)
      } catch {
        throw ValueComplaint("`\(text)`: \(error.message)", hint: "write it as `tool-@v.tar.gz`")
      }
      return text
    } encode: {
      .string($0)
    }
  }

  static var mediaType: Self {
    scalar(
      "a media type such as `image/png`",
      summary: "media type",
      schema: .pattern(Pattern.mediaType, "media_type")
    ) { text throws(ValueComplaint) in
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      let isType = parts.count == 2 && parts.allSatisfy { HeaderSyntax.isToken($0) }
      guard isType else {
        throw ValueComplaint("`\(text)` is not a media type", hint: "write it as `type/subtype`")
      }
      return text.lowercased()
    } encode: {
      .string($0)
    }
  }
}
