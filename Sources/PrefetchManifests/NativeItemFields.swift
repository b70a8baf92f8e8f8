internal import PrefetchCore

/// Fields of a native item, as byte ranges, when its tokens are simple.
struct NativeItemFields {
  typealias Stretch = JSONCursor.Stretch

  var url = Stretch.absent
  var id = Stretch.absent
  var provider = Stretch.absent
  var type = Stretch.absent
  var mime = Stretch.absent
  var title = Stretch.absent
  var entityTag = Stretch.absent
  var lifetime = Stretch.absent
  var expires = Stretch.absent
  var path = Stretch.absent
  var modified = Stretch.absent
  var integrity = Stretch.absent
  var priority: Int64 = 0
  var size: Int64 = -1
  var isRequired = true
  var digest: ContentDigest?
  var strongDigest: StrongDigest?
  private var seen: UInt32 = 0

  var fitsColumns: Bool {
    title.isAbsent && entityTag.isAbsent && lifetime.isAbsent && expires.isAbsent
      && integrity.isAbsent && isRequired
      && priority == 0 && (digest == nil || strongDigest == nil)
  }

  /// Reads an item; returns false when the tree reader must read it, valid or not.
  mutating func read(_ cursor: inout JSONCursor) -> Bool {
    if cursor.next() == UInt8(ascii: "\"") {
      guard let text = cursor.string() else { return false }
      url = text
      return true
    }
    guard cursor.accept(UInt8(ascii: "{")) else { return false }
    var others = OtherKeys()
    repeat {
      guard cursor.next() == UInt8(ascii: "\""), let key = cursor.string(),
        cursor.accept(UInt8(ascii: ":"))
      else { return false }
      if let member = Member(cursor.number(of: key), length: key.count) {
        guard markSeen(member), value(member, &cursor) else { return false }
      } else {
        guard others.add(key, in: cursor), cursor.otherValue() else { return false }
      }
    } while cursor.accept(UInt8(ascii: ","))
    return cursor.accept(UInt8(ascii: "}")) && !url.isAbsent
  }

  private mutating func markSeen(_ member: Member) -> Bool {
    let bit: UInt32 = 1 << UInt32(member.rawValue)
    guard seen & bit == 0 else { return false }
    seen |= bit
    return true
  }

  private mutating func value(_ member: Member, _ cursor: inout JSONCursor) -> Bool {
    let first = cursor.next()
    if first == UInt8(ascii: "n") { return cursor.word("null") }
    switch member {
    case .size:
      guard let number = cursor.wholeNumber() else { return false }
      size = number
      return true
    case .priority:
      guard let number = cursor.wholeNumber(), (1...100).contains(number) else { return false }
      priority = number
      return true
    case .required:
      if first == UInt8(ascii: "t") { return cursor.word("true") }
      isRequired = false
      return cursor.word("false")
    case .digests: return digests(&cursor)
    case .headers, .network, .alternates, .categories, .thumbnail, .behavior, .seconds, .info:
      return false
    case .integrity: return integrity(&cursor)
    case .url: return cursor.string(into: &url)
    case .id: return cursor.string(into: &id)
    case .provider: return cursor.string(into: &provider)
    case .type: return cursor.string(into: &type)
    case .mime: return cursor.string(into: &mime)
    case .title: return cursor.string(into: &title)
    case .entityTag: return cursor.string(into: &entityTag)
    case .lifetime: return cursor.string(into: &lifetime)
    case .expires: return cursor.string(into: &expires)
    case .path: return cursor.string(into: &path)
    case .modified: return cursor.string(into: &modified)
    }
  }

  private mutating func digests(_ cursor: inout JSONCursor) -> Bool {
    guard cursor.accept(UInt8(ascii: "{")) else { return false }
    if cursor.accept(UInt8(ascii: "}")) { return true }
    guard cursor.next() == UInt8(ascii: "\""), let key = cursor.string(), key.count == 6,
      cursor.accept(UInt8(ascii: ":")), cursor.next() == UInt8(ascii: "\""),
      let text = cursor.string()
    else { return false }
    switch cursor.number(of: key) {
    case 0x3635_3261_6873:  // sha256
      guard digest == nil, let read = unsafe DigestBytes.sha256(cursor.bytes(text)) else {
        return false
      }
      digest = read
    case 0x3231_3561_6873:  // sha512
      guard strongDigest == nil, let read = unsafe DigestBytes.sha512(cursor.bytes(text)) else {
        return false
      }
      strongDigest = read
    default: return false
    }
    return cursor.accept(UInt8(ascii: "}"))
  }

  /// Turns a single digest into one of `digests`; anything else stays text.
  private mutating func integrity(_ cursor: inout JSONCursor) -> Bool {
    guard cursor.string(into: &integrity) else { return false }
    let head = Stretch(start: integrity.start, count: min(7, integrity.count))
    let tail = Stretch(start: head.end, count: integrity.count - head.count)
    switch (cursor.number(of: head), tail.count) {
    case (0x2D_3635_3261_6873, 44) where digest == nil:  // sha256-
      digest = unsafe DigestBytes.sha256(cursor.bytes(tail))
      if digest != nil { integrity = .absent }
    case (0x2D_3231_3561_6873, 88) where strongDigest == nil:  // sha512-
      strongDigest = unsafe DigestBytes.sha512(cursor.bytes(tail))
      if strongDigest != nil { integrity = .absent }
    default: break
    }
    return true
  }
}

// MARK: - Keys

extension NativeItemFields {
  /// Known keys of an item, each recognized by its bytes read as a number.
  enum Member: UInt8, CaseIterable {
    case url, size, digests, mime, id, provider, type, integrity
    case title, entityTag, lifetime, expires, path, priority, headers, network
    case modified, alternates, required, categories, thumbnail, behavior, seconds, info

    @inline(__always)
    init?(_ number: UInt64, length: Int) {
      switch (number, length) {
      case (0x6C_7275, 3): self = .url
      case (0x657A_6973, 4): self = .size
      case (0x73_7473_6567_6964, 7): self = .digests
      case (0x656D_696D, 4): self = .mime
      case (0x6469, 2): self = .id
      case (0x7265_6469_766F_7270, 8): self = .provider
      case (0x6570_7974, 4): self = .type
      case (0x7469_7267_6574_6E69, 9): self = .integrity
      case (0x65_6C74_6974, 5): self = .title
      case (0x6761_7465, 4): self = .entityTag
      case (0x6C_7474, 3): self = .lifetime
      case (0x73_6572_6970_7865, 7): self = .expires
      case (0x6874_6170, 4): self = .path
      case (0x7974_6972_6F69_7270, 8): self = .priority
      case (0x6465_7269_7571_6572, 8): self = .required
      case (0x73_7265_6461_6568, 7): self = .headers
      case (0x6B_726F_7774_656E, 7): self = .network
      case (0x65_6D69_746D, 5): self = .modified
      case (0x7461_6E72_6574_6C61, 10): self = .alternates
      case (0x6972_6F67_6574_6163, 10): self = .categories
      case (0x6961_6E62_6D75_6874, 9): self = .thumbnail
      case (0x726F_6976_6168_6562, 8): self = .behavior
      case (0x73_646E_6F63_6573, 7): self = .seconds
      case (0x6F66_6E69, 4): self = .info
      default: return nil
      }
    }
  }

  /// Unknown keys of an item, which may not be repeated.
  private struct OtherKeys {
    private var first = Stretch.absent
    private var more: [Stretch] = []

    /// Adds a key; returns false for a repeated key and when there are too many to compare.
    mutating func add(_ key: Stretch, in cursor: JSONCursor) -> Bool {
      guard !first.isAbsent else {
        first = key
        return true
      }
      guard more.count < 8, !cursor.equals(first, key),
        !more.contains(where: { cursor.equals($0, key) })
      else { return false }
      more.append(key)
      return true
    }
  }
}

extension JSONCursor {
  @inline(__always)
  fileprivate mutating func string(into stretch: inout Stretch) -> Bool {
    guard byte(at: offset) == UInt8(ascii: "\""), let text = string() else { return false }
    stretch = text
    return true
  }

  /// Skips the value of an unknown key: one token, or a list of tokens.
  fileprivate mutating func otherValue() -> Bool {
    guard accept(UInt8(ascii: "[")) else { return simpleValue() }
    if accept(UInt8(ascii: "]")) { return true }
    repeat {
      guard simpleValue() else { return false }
    } while accept(UInt8(ascii: ","))
    return accept(UInt8(ascii: "]"))
  }
}
