import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == ClockWindow {
  static var window: Self {
    scalar("a window such as `22:00-06:00`", summary: "window", code: "config.bad-clock") {
      text throws(ValueComplaint) in
      do throws(ClockWindow.Malformed) {
        return try ClockWindow(text)
      } catch {
        throw ValueComplaint(error.message, hint: error.hint, code: "config.bad-clock")
      }
    } encode: {
      .string($0.description)
    }
  }
}

extension ValueType where Value == String {
  /// The name of a time zone; whether the machine knows it is seen later.
  static var timeZone: Self {
    scalar("a time zone such as `Europe/Berlin`", summary: "time zone", code: "config.bad-clock") {
      text throws(ValueComplaint) in
      guard TimeZoneRules.isName(text) else {
        throw ValueComplaint(
          "`\(text)` is no time zone",
          hint: "write `local`, `UTC` or `Area/City`"
        )
      }
      return text
    } encode: {
      .string($0)
    }
  }
}
