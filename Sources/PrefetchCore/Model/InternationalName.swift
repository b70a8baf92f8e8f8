internal import CIdn

/// Conversion of host names to `xn--…` by libidn2 (UTS 46): libcurl uses the name checked here.
package enum InternationalName {
  package static func ascii(_ name: some StringProtocol) -> String? {
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
    let bytes = Array(name.utf8) + [0]
    let (ascii, status) = lookUp(bytes, IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
    // Newer rules disallow symbols such as ☃; the older ones serve if both map the rest alike.
    guard status == IDN2_DISALLOWED.rawValue, name.unicodeScalars.allSatisfy(isMappedAlike) else {
      return ascii
    }
    return lookUp(bytes, IDN2_TRANSITIONAL.rawValue).ascii
  }

  /// Whether the older rules map a character like the newer ones and skip none of their checks.
  private static func isMappedAlike(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xDF, 0x3C2, 0x1E9E, 0x200C...0x200F: false
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x1_0800...0x1_0FFF,
      0x1_E800...0x1_EFFF:
      false
    default: true
    }
  }

  package static var libraryVersion: String {
    unsafe idn2_check_version(nil).map { unsafe String(cString: $0) } ?? "unknown"
  }

  private static func lookUp(_ name: [UInt8], _ flags: UInt32) -> (ascii: String?, status: Int32) {
    unsafe name.withUnsafeBufferPointer { name -> (ascii: String?, status: Int32) in
      var found: UnsafeMutablePointer<UInt8>?
      let status = unsafe idn2_lookup_u8(name.baseAddress, &found, Int32(flags))
      guard status == IDN2_OK.rawValue, let text = unsafe found else { return (nil, status) }
      defer { unsafe idn2_free(text) }
      return (unsafe String(cString: text), status)
    }
  }
}
