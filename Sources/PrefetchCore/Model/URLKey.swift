/// 128 bits that stand for a URL where millions are compared.
///
/// The hash is keyed anew in every process, so that nobody can prepare two URLs that meet; keys are
/// never stored.
package struct URLKey: Hashable, Sendable {
  package let first: UInt64
  package let second: UInt64

  package init(_ url: String) {
    var url = url
    self = url.withUTF8 { unsafe URLKey($0) }
  }

  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    var first = Secret.words.0 ^ UInt64(bytes.count)
    var second = Secret.words.1
    var offset = 0
    let raw = UnsafeRawBufferPointer(bytes)
    while offset + 16 <= raw.count {
      let low = unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let high = unsafe raw.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
      (first, second) = Self.mixed(first, second, low, high)
      offset += 16
    }
    var low: UInt64 = 0
    var high: UInt64 = 0
    for index in offset..<raw.count {
      let byte = unsafe UInt64(raw[index])
      let place = index - offset
      if place < 8 {
        low |= byte << UInt64(8 * place)
      } else {
        high |= byte << UInt64(8 * place - 64)
      }
    }
    (first, second) = Self.mixed(first, second, low, high)
    self.first = Self.folded(first ^ Secret.words.2, second ^ Secret.words.3)
    self.second = Self.folded(second ^ Secret.words.2, self.first ^ Secret.words.1)
  }

  /// Where a table of a power of two slots looks first.
  package func slot(mask: Int) -> Int {
    Int(truncatingIfNeeded: first) & mask
  }

  private static func mixed(
    _ first: UInt64,
    _ second: UInt64,
    _ low: UInt64,
    _ high: UInt64
  ) -> (UInt64, UInt64) {
    (
      folded(first ^ low, Secret.words.2 ^ high),
      folded(second ^ high ^ Secret.words.3, Secret.words.0 ^ low) ^ first
    )
  }

  private static func folded(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// Odd, so that no factor is zero by accident.
  private enum Secret {
    static let words: (UInt64, UInt64, UInt64, UInt64) = {
      var source = SystemRandomNumberGenerator()
      return (source.next() | 1, source.next() | 1, source.next() | 1, source.next() | 1)
    }()
  }
}

/// Positions by key, in one flat array of slots.
///
/// The keys themselves stay where they are, in whatever the positions mean.
package struct KeyTable: Sendable {
  private var slots: [UInt32]
  private var mask: Int
  package private(set) var count = 0

  package init(minimumCapacity: Int = 0) {
    var size = 16
    while size < minimumCapacity * 2 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    mask = size - 1
  }

  /// The position of a key, nil where it is not known; `keyAt` gives the key of a position.
  package func position(of key: URLKey, keyAt: (Int) -> URLKey) -> Int? {
    var slot = key.slot(mask: mask)
    while slots[slot] != 0 {
      let position = Int(slots[slot] - 1)
      if keyAt(position) == key { return position }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Notes a position for a key unless the key has one already, which is then returned.
  package mutating func insert(
    _ key: URLKey,
    at position: Int,
    keyAt: (Int) -> URLKey
  ) -> Int? {
    if (count + 1) * 2 > slots.count { grow(keyAt: keyAt) }
    var slot = key.slot(mask: mask)
    while slots[slot] != 0 {
      let known = Int(slots[slot] - 1)
      if keyAt(known) == key { return known }
      slot = (slot + 1) & mask
    }
    slots[slot] = UInt32(position + 1)
    count += 1
    return nil
  }

  private mutating func grow(keyAt: (Int) -> URLKey) {
    let old = slots
    slots = [UInt32](repeating: 0, count: old.count * 2)
    mask = slots.count - 1
    for entry in old where entry != 0 {
      var slot = keyAt(Int(entry - 1)).slot(mask: mask)
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = entry
    }
  }
}
