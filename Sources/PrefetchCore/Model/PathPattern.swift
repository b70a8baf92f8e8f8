/// Shell pattern over the paths of a tree, in rsync's way: without a slash it matches the last part
/// of a path, with one the whole.
///
/// `*`, `?` and sets stay within one part; `**` spans several, and `**/` also none.
package struct PathPattern: Hashable, Sendable {
  private let scalars: [Unicode.Scalar]
  private let isWhole: Bool

  /// Parses a pattern; a leading slash counts like any other, a trailing one takes a whole folder.
  package init(_ text: String) {
    let rooted = text.hasPrefix("/") ? text.dropFirst() : text[...]
    isWhole = text.contains("/")
    scalars = Array((rooted.hasSuffix("/") ? rooted + "**" : rooted).unicodeScalars)
  }

  package func matches(_ path: Path) -> Bool {
    matches(isWhole ? path.scalars[...] : path.scalars[path.base...])
  }

  /// Path split once for many patterns.
  package struct Path: Sendable {
    fileprivate let scalars: [Unicode.Scalar]
    fileprivate let base: Int

    package init(_ text: some StringProtocol) {
      scalars = Array(text.unicodeScalars.drop { $0 == "/" })
      base = scalars.lastIndex(of: "/").map { $0 + 1 } ?? 0
    }
  }

  private struct Return {
    var pattern: Int
    var text: Int
  }

  /// Backtracks to the last `*` of the part and the last `**` only: at most quadratic time.
  private func matches(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
    var (p, t) = (0, text.startIndex)
    var star: Return?
    var doubleStar: Return?
    while true {
      if let next = afterDoubleStar(p) {
        doubleStar = Return(pattern: next, text: t)
        star = nil
        p = next
        continue
      }
      if p < scalars.count, scalars[p] == "*" {
        p += 1
        star = Return(pattern: p, text: t)
        continue
      }
      if t == text.endIndex, p == scalars.count { return true }
      if t < text.endIndex, let next = step(p, text[t]) {
        p = next
        t += 1
      } else if let back = star, back.text < text.endIndex, text[back.text] != "/" {
        star = Return(pattern: back.pattern, text: back.text + 1)
        (p, t) = (back.pattern, back.text + 1)
      } else if let back = doubleStar, let index = resumption(back, in: text) {
        doubleStar = Return(pattern: back.pattern, text: index)
        star = nil
        (p, t) = (back.pattern, index)
      } else {
        return false
      }
    }
  }

  private func afterDoubleStar(_ p: Int) -> Int? {
    guard p + 1 < scalars.count, scalars[p] == "*", scalars[p + 1] == "*" else { return nil }
    let end = scalars[p...].firstIndex { $0 != "*" } ?? scalars.count
    let endsAtSlash =
      end < scalars.count && scalars[end] == "/" && (p == 0 || scalars[p - 1] == "/")
    return endsAtSlash ? end + 1 : end
  }

  private func resumption(_ back: Return, in text: ArraySlice<Unicode.Scalar>) -> Int? {
    guard back.text < text.endIndex else { return nil }
    // After `**/` the text has to begin a part.
    guard back.pattern > 0, scalars[back.pattern - 1] == "/" else { return back.text + 1 }
    return text[back.text...].firstIndex(of: "/").map { $0 + 1 }
  }

  private func step(_ p: Int, _ scalar: Unicode.Scalar) -> Int? {
    guard p < scalars.count else { return nil }
    if scalar == "/" { return scalars[p] == "/" ? p + 1 : nil }
    return Glob.step(scalars[...], p, scalar)
  }
}
