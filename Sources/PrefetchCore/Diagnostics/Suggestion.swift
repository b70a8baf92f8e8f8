package enum Suggestion {
  /// Returns the nearest candidate within a third of the word's length; the first one on a tie.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let typed = Array(word.lowercased().unicodeScalars)
    let limit = max(1, typed.count / 3)
    var best: (distance: Int, name: String)?
    for candidate in candidates {
      let known = Array(candidate.lowercased().unicodeScalars)
      guard abs(known.count - typed.count) <= limit else { continue }
      let distance = editDistance(typed, known)
      guard distance <= limit, distance < (best?.distance ?? .max) else { continue }
      best = (distance, candidate)
    }
    return best?.name
  }

  /// Counts insertions, removals, replacements and, as the commonest slip, swaps of neighbours.
  private static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var beforePrevious: [Int] = []
    var previous = Array(0...b.count)
    for i in 1...a.count {
      var current = [i]
      for j in 1...b.count {
        let replacement = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        var cost = min(replacement, previous[j] + 1, current[j - 1] + 1)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          cost = min(cost, beforePrevious[j - 2] + 1)
        }
        current.append(cost)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[b.count]
  }
}
