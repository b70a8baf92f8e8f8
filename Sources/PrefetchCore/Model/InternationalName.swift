internal import CIdn

/// Host names beyond ASCII in the form in which the net knows them (`xn--…`).
///
/// libidn2 maps them (UTS 46), asked as libcurl asks it: what is looked at here under one name must
/// not be fetched under another.
package enum InternationalName {
  /// The ASCII form of a whole name, itself where it has nothing else; nil for what is no name.
  package static func ascii(_ name: some StringProtocol) -> String? {
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
    let bytes = Array(name.utf8) + [0]
    // What the newer rules have no place for may still be a name by the older ones.
    return lookUp(bytes, IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
      ?? lookUp(bytes, IDN2_TRANSITIONAL.rawValue)
  }

  /// libidn2's version as it runs.
  package static var libraryVersion: String {
    unsafe idn2_check_version(nil).map { unsafe String(cString: $0) } ?? "unknown"
  }

  private static func lookUp(_ name: [UInt8], _ flags: UInt32) -> String? {
    unsafe name.withUnsafeBufferPointer { name -> String? in
      var found: UnsafeMutablePointer<UInt8>?
      guard unsafe idn2_lookup_u8(name.baseAddress, &found, Int32(flags)) == IDN2_OK.rawValue,
        let text = unsafe found
      else { return nil }
      defer { unsafe idn2_free(text) }
      return unsafe String(cString: text)
    }
  }
}
