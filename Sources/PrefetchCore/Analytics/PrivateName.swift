/// Kind of personal data that an event's name, which is public, seems to contain.
package enum PrivateName: Hashable, Sendable {
  case mailAddress
  case phoneNumber
  case personalNumber
  case userID

  package var words: String {
    switch self {
    case .mailAddress: "an e-mail address"
    case .phoneNumber: "a phone number"
    case .personalNumber: "the number of a person, an account or a device"
    case .userID: "the id of a user or a device"
    }
  }

  package static func found(in name: String) -> PrivateName? {
    let text = Array(name.utf8)
    if holdsMailAddress(text) { return .mailAddress }
    if holdsUserID(text) { return .userID }
    return runs(of: text).lazy.compactMap(number).first
  }

  // MARK: Addresses

  private static func holdsMailAddress(_ text: [UInt8]) -> Bool {
    for at in text.indices where text[at] == UInt8(ascii: "@") {
      let host = text[(at + 1)...].prefix { isWord($0) || $0 == UInt8(ascii: ".") }
      let inner = host.dropFirst().dropLast()
      if at > 0, isWord(text[at - 1]), inner.contains(UInt8(ascii: ".")) { return true }
    }
    return false
  }

  // MARK: Ids

  /// Whether text has an id such as `user-4711`, or 16 hexadecimal digits, as device ids have.
  private static func holdsUserID(_ text: [UInt8]) -> Bool {
    let words = text.split { !isWord($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    for (index, word) in words.enumerated() {
      let letters = word.prefix { !ASCII.isDigit($0) }
      let rest = word.dropFirst(letters.count)
      guard persons.contains(String(decoding: letters, as: UTF8.self).lowercased()) else {
        continue
      }
      let next = index + 1 < words.count ? words[index + 1] : []
      // `user2` may be a second way to do something; `user 2031` is a person.
      if rest.count > 2 || (rest.isEmpty && isNumbered(next)) { return true }
    }
    let digits = text.filter { $0 != UInt8(ascii: "-") }
    return digits.split { !isHexadecimal($0) }.contains {
      $0.count >= 16 && $0.contains(where: ASCII.isDigit)
    }
  }

  private static let persons: Set<String> = [
    "account", "client", "customer", "device", "email", "imei", "login", "member", "msisdn",
    "patient", "person", "phone", "subscriber", "uid", "user", "userid", "username",
  ]

  private static func isNumbered(_ word: ArraySlice<UInt8>) -> Bool {
    word.count > 2 && word.contains(where: ASCII.isDigit)
  }

  // MARK: Numbers

  private static func runs(of text: [UInt8]) -> [ArraySlice<UInt8>] {
    let separators = Set(" -/().+".utf8)
    return text.split { !ASCII.isDigit($0) && !separators.contains($0) }
  }

  private static func number(_ run: ArraySlice<UInt8>) -> PrivateName? {
    let groups = run.split { !ASCII.isDigit($0) }
    let digits = groups.reduce(0) { $0 + $1.count }
    guard !isDate(groups) else { return nil }
    if groups.contains(where: { $0.count >= 9 }) { return .personalNumber }
    let isInternational = run.contains(UInt8(ascii: "+"))
    // Dotted short groups are versions and addresses.
    let isDotted = run.contains(UInt8(ascii: "."))
    let isPhone = isInternational ? digits >= 7 : groups.count > 1 && digits >= 9 && !isDotted
    return isPhone ? .phoneNumber : nil
  }

  /// Whether groups form a date such as `2026-11-24` or `20261124`, optionally with a time.
  private static func isDate(_ groups: [ArraySlice<UInt8>]) -> Bool {
    guard let year = groups.first, [4, 8, 12, 14].contains(year.count) else { return false }
    let century = String(decoding: year.prefix(2), as: UTF8.self)
    return (century == "19" || century == "20") && groups.dropFirst().allSatisfy { $0.count <= 6 }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte >= 0x80
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "f")
  }
}
