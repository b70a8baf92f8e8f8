/// Hash table of positions by key, in one flat array; the caller keeps the keys.
package struct KeyTable: Sendable {
  /// Position plus 1 in the mask's bits, 0 for an empty slot; key bits in the rest spare key reads.
  private var slots: [UInt32]
  private var mask: Int
  package private(set) var count = 0

  package init(minimumCapacity: Int = 0) {
    var size = 16
    while size < minimumCapacity * 2 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    mask = size - 1
  }

  package func position(of key: URLKey, keyAt: (Int) -> URLKey) -> Int? {
    var slot = key.slot(mask: mask)
    while slots[slot] != 0 {
      if let position = match(slots[slot], key, keyAt: keyAt) { return position }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Inserts a position unless the key has one, which is then returned.
  package mutating func insert(
    _ key: URLKey,
    at position: Int,
    keyAt: (Int) -> URLKey
  ) -> Int? {
    while (max(count, position) + 1) * 2 > slots.count { grow(keyAt: keyAt) }
    var slot = key.slot(mask: mask)
    while slots[slot] != 0 {
      if let known = match(slots[slot], key, keyAt: keyAt) { return known }
      slot = (slot + 1) & mask
    }
    slots[slot] = entry(key, position)
    count += 1
    return nil
  }

  @inline(__always)
  private func match(_ entry: UInt32, _ key: URLKey, keyAt: (Int) -> URLKey) -> Int? {
    let low = UInt32(truncatingIfNeeded: mask)
    guard entry & ~low == UInt32(truncatingIfNeeded: key.second) & ~low else { return nil }
    let position = Int(entry & low) - 1
    return keyAt(position) == key ? position : nil
  }

  @inline(__always)
  private func entry(_ key: URLKey, _ position: Int) -> UInt32 {
    let low = UInt32(truncatingIfNeeded: mask)
    return UInt32(truncatingIfNeeded: key.second) & ~low | UInt32(position + 1)
  }

  private mutating func grow(keyAt: (Int) -> URLKey) {
    let old = slots
    let oldMask = UInt32(truncatingIfNeeded: mask)
    slots = [UInt32](repeating: 0, count: old.count * 2)
    mask = slots.count - 1
    for slotted in old where slotted != 0 {
      let position = Int(slotted & oldMask) - 1
      let key = keyAt(position)
      var slot = key.slot(mask: mask)
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = entry(key, position)
    }
  }
}
