/// Reason why a text is no ``NamePattern``, with the place in characters from 1.
package enum NamePatternFault: Error, Hashable, Sendable {
  case noVersion
  case secondVersion(column: Int)
  case adjacentWildcards(column: Int)
  case unknownWildcard(column: Int)
  case bareStar(column: Int)

  package var message: String {
    switch self {
    case .noVersion:
      "it has no `@v`, the place of the version"
    case .secondVersion(let column):
      "it has a second `@v` at character \(column); a name has one version"
    case .adjacentWildcards(let column):
      "the wildcard at character \(column) follows another one; put a text between them"
    case .unknownWildcard(let column):
      "the `@` at character \(column) begins neither `@v` nor `@*`; write `@@` for an at sign"
    case .bareStar(let column):
      "the `*` at character \(column) has no `@`; write `@*` for any text"
    }
  }
}
