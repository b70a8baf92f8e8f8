import PrefetchCore
import Testing

@Suite struct GoneRuleTests {
  @Test(
    "A 404 removes an item only by the rules of all its segments, if stored and not locked",
    arguments: [
      (404, [.remove], true, false, "removed"), (410, [.remove, .remove], true, false, "removed"),
      (404, [.remove, .keep], true, false, "gone"), (404, [.keep], true, false, "gone"),
      (404, [], true, false, "gone"), (404, [.remove], false, false, "gone"),
      (410, [.remove], true, true, "gone"), (403, [.remove], true, false, nil),
      (200, [.remove], true, false, nil), (500, [.remove], true, false, nil),
    ] as [(Int, [GoneRule], Bool, Bool, String?)]
  )
  func table(status: Int, rules: [GoneRule], hasBody: Bool, isLocked: Bool, expected: String?) {
    let outcome = GoneRule.outcome(
      status: status,
      rules: rules,
      hasBody: hasBody,
      isLocked: isLocked
    )
    let word: String? =
      switch outcome {
      case .failed(let failure): failure.code.rawValue
      case .removed: "removed"
      case nil: nil
      }
    #expect(word == expected)
  }
}
