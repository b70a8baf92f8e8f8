/// Location in a user's file: line and column count from 1, columns in Unicode scalars.
package struct SourceLocation: Hashable, Sendable {
  /// File as the user named it, or `<stdin>`, `--set`, `PREFETCH_X`.
  package var file: String
  package var line: Int
  package var column: Int
  package var length: Int

  package init(file: String, line: Int, column: Int, length: Int = 1) {
    self.file = file
    self.line = line
    self.column = column
    self.length = max(1, length)
  }
}

extension SourceLocation: CustomStringConvertible {
  package var description: String {
    "\(file):\(line):\(column)"
  }
}
