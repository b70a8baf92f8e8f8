internal import PrefetchCore

struct ServedVersion: Hashable, Sendable {
  var etag: String?
  var modified: Instant?
  var size: Int64
}

/// Request headers that select a body, a part of a body or none.
package struct RequestConditions: Hashable, Sendable {
  var ifMatch: String?
  var ifNoneMatch: String?
  var ifModifiedSince: String?
  var ifUnmodifiedSince: String?
  var ifRange: String?
  var range: String?
}

/// Result of evaluating a request's conditions.
enum ConditionResult: Hashable {
  case whole
  case part(ClosedRange<Int64>)
  case notModified
  case preconditionFailed
  case unsatisfiableRange

  /// Evaluates the conditions in the order of RFC 9110 §13.2.2.
  init(to conditions: RequestConditions, about file: ServedVersion) {
    if let failed = Self.failedPrecondition(conditions, file) {
      self = failed
      return
    }
    if let list = conditions.ifNoneMatch {
      guard !Self.matches(list, file.etag, isWeakAllowed: true) else {
        self = .notModified
        return
      }
    } else if let since = conditions.ifModifiedSince.flatMap({ HTTPDate.parse($0) }) {
      guard file.isNewer(than: since) else {
        self = .notModified
        return
      }
    }
    guard let range = conditions.range, Self.rangeHolds(conditions.ifRange, file) else {
      self = .whole
      return
    }
    self = Self.part(range, size: file.size)
  }

  private static func failedPrecondition(
    _ conditions: RequestConditions,
    _ file: ServedVersion
  ) -> Self? {
    if let list = conditions.ifMatch {
      return matches(list, file.etag, isWeakAllowed: false) ? nil : .preconditionFailed
    }
    guard let since = conditions.ifUnmodifiedSince.flatMap({ HTTPDate.parse($0) }) else {
      return nil
    }
    return file.isNewer(than: since) ? .preconditionFailed : nil
  }

  private static func rangeHolds(_ validator: String?, _ file: ServedVersion) -> Bool {
    guard let validator else { return true }
    // Parts of different versions must never be combined.
    if validator.contains("\"") { return !validator.hasPrefix("W/") && validator == file.etag }
    return file.modified != nil && HTTPDate.parse(validator) == file.modified
  }

  /// Returns whether a list of entity tags, or `*`, matches; quoted tags may contain commas.
  private static func matches(_ list: String, _ etag: String?, isWeakAllowed: Bool) -> Bool {
    let isOwnWeak = etag?.hasPrefix("W/") ?? false
    let own = isOwnWeak ? etag?.dropFirst(2) : etag?[...]
    var rest = Substring(list)
    while let first = rest.first {
      if first == "*" { return true }
      guard first == "W" || first == "\"" else {
        rest.removeFirst()
        continue
      }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest.removeFirst(2) }
      guard rest.first == "\"", let close = rest.dropFirst().firstIndex(of: "\"") else {
        return false
      }
      if rest[...close] == own, isWeakAllowed || !(isWeak || isOwnWeak) { return true }
      rest = rest[rest.index(after: close)...]
    }
    return false
  }

  /// Returns a single range; several ranges or other units give the whole body (RFC 9110).
  private static func part(_ header: String, size: Int64) -> Self {
    let unit = "bytes="
    guard header.lowercased().hasPrefix(unit) else { return .whole }
    let ends = header.dropFirst(unit.count).split(separator: "-", omittingEmptySubsequences: false)
      .map { $0.filter { $0 != " " } }
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(ASCII.isDigit) }) else {
      return .whole
    }
    switch (Int64(ends[0]), Int64(ends[1])) {
    case (let first?, let last?):
      guard first <= last else { return .whole }
      return first < size ? .part(first...min(last, size - 1)) : .unsatisfiableRange
    case (let first?, nil):
      guard ends[1].isEmpty else { return .whole }
      return first < size ? .part(first...(size - 1)) : .unsatisfiableRange
    case (nil, let length?):
      guard ends[0].isEmpty else { return .whole }
      return length > 0 && size > 0
        ? .part(max(0, size - length)...(size - 1)) : .unsatisfiableRange
    case (nil, nil):
      return .whole
    }
  }
}

extension ServedVersion {
  fileprivate func isNewer(than instant: Instant) -> Bool {
    modified.map { $0 > instant } ?? true
  }
}
