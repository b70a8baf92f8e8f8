import PrefetchTestSupport

extension Home {
  /// Runs the program while a system call fails on files with these paths or names.
  ///
  /// `moments` are counted per thread, in strace's syntax: `3` is the third call alone, `3+` the
  /// third and all later ones.
  func run(
    _ arguments: String,
    failing calls: String,
    with error: String,
    on paths: [String],
    at moments: String = "1+"
  ) throws -> ProgramRun {
    let filters = paths.map { "-P '\($0)'" }.joined(separator: " ")
    return try shell(
      """
      strace -f -qq -o /dev/null \(filters) -e trace=\(calls) \
      -e inject=\(calls):error=\(error):when=\(moments) $prefetch \(arguments)
      """
    )
  }
}
