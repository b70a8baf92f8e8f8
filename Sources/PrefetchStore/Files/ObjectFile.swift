internal import PrefetchCore

/// Identity of the file that holds a body.
struct ObjectFile: Hashable {
  let status: FileStatus
  let birth: Int64

  /// Hash that an index row stores: inode and birth in the upper half, time in the lower.
  var mark: Int64 {
    let file = Self.mix(Self.mix(status.inode) ^ UInt64(bitPattern: birth))
    return Int64(bitPattern: file & ~Self.lowerHalf | Self.mix(time) & Self.lowerHalf)
  }

  /// Returns whether the file has the mark, ignoring a time before the birth, which a mirror set.
  func has(_ mark: Int64) -> Bool {
    let difference = UInt64(bitPattern: mark ^ self.mark)
    return difference == 0 || difference & ~Self.lowerHalf == 0 && status.modified < birth
  }

  private var time: UInt64 {
    UInt64(bitPattern: status.modified)
  }

  /// Last step of the generator SplitMix64: every bit affects every other.
  private static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  private static let lowerHalf: UInt64 = 0xffff_ffff
}

extension OpenFile {
  func objectFile() throws(Failure) -> ObjectFile {
    ObjectFile(status: try status(), birth: birth)
  }
}

extension Folder {
  func objectFile(_ name: String) throws(Failure) -> ObjectFile? {
    try status(of: name).map { ObjectFile(status: $0, birth: birth(of: name)) }
  }
}
