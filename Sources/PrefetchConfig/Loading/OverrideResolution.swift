import PrefetchCore
import PrefetchDocuments

struct OverrideResolution {
  var steps: [ValuePath.Step]
  var shape: Shape
  var isSecret = false

  /// Reason why profiles may not set the key; nil when they may.
  var objectionToProfile: String? {
    switch (steps.first, steps.last) {
    case (.key("segments"), _) where steps.count == 1: "its segments stay what they are"
    case (.key("segments"), .key("name")) where steps.count == 3:
      "its segments keep their names"
    case (.key("name"), _), (.key("version"), _): "the configuration stays the same one"
    case (.key("include"), _), (.key("profiles"), _):
      "what files are read is decided before it is known"
    default: nil
    }
  }

  mutating func walk(
    _ remaining: ArraySlice<ValuePath.Step>,
    of override: Override
  ) throws(Diagnostic) {
    guard let step = remaining.first else { return }
    switch (shape, step) {
    case (.object(let object), .key(let spelling)):
      guard let key = object.key(spelled: spelling) else {
        let levelHint =
          steps.isEmpty ? nil : Configuration.topLevelHint(of: spelling) { "`--set \($0)=…`" }
        let hint =
          levelHint
          ?? Choices.suggestion(
            for: KeySpelling.normalised(spelling),
            among: object.keys.map(\.name)
          )
        throw Override.complaint(
          override,
          "unknown key `\(spelling)` in `\(override.path)`",
          hint: hint
        )
      }
      steps.append(.key(key.name))
      shape = key.shape
      isSecret = isSecret || key.isSecret
      try walk(remaining.dropFirst(), of: override)
    case (.map(_, let element), .key):
      try walkFreeKey(remaining, element, of: override)
    case (.scalar, _), (.list, _), (.anything, _), (.object, .index), (.map, .index):
      throw Override.complaint(
        override,
        "`\(ValuePath(steps))` has no parts that could be set",
        hint: "set it as a whole: `\(ValuePath(steps))=[…]`"
      )
    }
  }

  /// Resolves a free key, such as a host with dots: the longest key with a valid remainder wins.
  private mutating func walkFreeKey(
    _ remaining: ArraySlice<ValuePath.Step>,
    _ element: Shape,
    of override: Override
  ) throws(Diagnostic) {
    let keys = remaining.map { step -> String in
      if case .key(let key) = step { key } else { "" }
    }
    for count in (1...keys.count).reversed() {
      var attempt = self
      attempt.steps.append(.key(keys[..<count].joined(separator: ".")))
      attempt.shape = element
      let rest = remaining.dropFirst(count)
      if rest.isEmpty, case .object(let object) = element, object.shorthand == nil { continue }
      if rest.isEmpty, keys.count > 1, leadsToKey(keys, element) { continue }
      guard (try? attempt.walk(rest, of: override)) != nil else { continue }
      self = attempt
      return
    }
    throw Override.complaint(override, "`\(override.path)` names no key", hint: nil)
  }

  private func leadsToKey(_ keys: [String], _ element: Shape) -> Bool {
    guard case .object(let object) = element, let last = keys.last else { return false }
    return object.key(spelled: last) != nil
  }
}
