import PrefetchCore

enum Amounts {
  /// Returns for example `0 B`, `999 B`, `1.2 kB`, `34 MB`.
  static func bytes(_ count: Int64) -> String {
    SizeText.format(count)
  }

  /// Returns for example `0.3 s`, `12 s`, `3 m 20 s`, `2 h 5 m`, `4 d 1 h`.
  static func duration(_ duration: Duration) -> String {
    // A clock that was set back would give negative spans.
    let milliseconds = max(0, duration.milliseconds)
    let seconds = milliseconds / 1000
    switch seconds {
    case ..<10: return "\(tenths(Double(milliseconds) / 1000)) s"
    case ..<60: return "\(seconds) s"
    case ..<3600: return "\(seconds / 60) m \(seconds % 60) s"
    case ..<86_400: return "\(seconds / 3600) h \(seconds % 3600 / 60) m"
    default: return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }
  }

  static func count(_ number: Int64, _ singular: String, _ plural: String? = nil) -> String {
    CountedNoun(singular, plural).text(number)
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
