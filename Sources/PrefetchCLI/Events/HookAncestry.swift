import PrefetchSystem

/// Caches whose hooks have started this process; a hook that runs `prefetch` must not recurse.
struct HookAncestry {
  /// Variable of hooks: the folders of these caches, one a line.
  static let variable = "PREFETCH_HOOK_CACHES"

  static let skipped =
    "no hooks are started, because a hook of the same cache started this command"

  private let caches: [String]

  init(_ variables: [String: String]) {
    caches = (variables[Self.variable] ?? "").split(separator: "\n").map(String.init)
  }

  func includes(_ cache: String) -> Bool {
    caches.contains(PublishingSetup.real(cache))
  }

  func text(with cache: String) -> String {
    (caches + [PublishingSetup.real(cache)]).joined(separator: "\n")
  }
}
