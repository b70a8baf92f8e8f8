internal import PrefetchCore

/// Words libyaml's errors for authors of configurations.
enum YAMLProblem {
  private struct Wording {
    var message: String
    var hint: String?
    /// Whether to report the error's context, where the mistake is, instead of its discovery.
    var isAtContext = false
  }

  static func diagnostic(for fault: YAMLFault, cursor: inout TextCursor) -> Diagnostic {
    let location: SourceLocation
    switch fault.offset {
    case .byte(let offset):
      location = cursor.location(fromByte: offset, toByte: offset + 1)
      return controlCharacter(cursor.current, at: location)
    case .scalar(let index):
      location = cursor.location(fromScalar: index, toScalar: index + 1)
    }
    let isTab = cursor.current == "\t"
    if fault.problem.contains("tab character") || isTab && fault.problem == noToken {
      return tab(at: location)
    }
    if fault.problem == noToken {
      let shown = cursor.current.map { String($0).quotable } ?? ""
      return Diagnostic(
        "document.syntax",
        "a value cannot start with `\(shown)`",
        hint: "put it in quotes",
        at: location
      )
    }
    let wording = wording(for: fault.problem)
    let index = fault.contextOffset
    return Diagnostic(
      "document.syntax",
      wording.message,
      hint: wording.hint,
      at: wording.isAtContext ? cursor.location(fromScalar: index, toScalar: index + 1) : location
    )
  }

  static func tab(at location: SourceLocation) -> Diagnostic {
    Diagnostic(
      "document.tab",
      "YAML does not allow a tab as indentation",
      hint: "indent with spaces",
      at: location
    )
  }

  static func name(at location: SourceLocation) -> Diagnostic {
    let wording = wording(for: badName)
    return Diagnostic("document.syntax", wording.message, hint: wording.hint, at: location)
  }

  private static let badName = "did not find expected alphabetic or numeric character"
  private static let noToken = "found character that cannot start any token"

  private static func controlCharacter(
    _ scalar: Unicode.Scalar?,
    at location: SourceLocation
  ) -> Diagnostic {
    let digits = String(scalar?.value ?? 0, radix: 16, uppercase: true)
    let code = String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    return Diagnostic(
      "document.encoding",
      "the character `U+\(code)` is not allowed in YAML",
      hint: "write it as an escape in double quotes",
      at: location
    )
  }

  private static func wording(for problem: String) -> Wording {
    switch problem {
    case "could not find expected ':'":
      Wording(
        message: "expected `:` after this key",
        hint: "a key and its `:` belong on one line; text over several lines takes quotes",
        isAtContext: true
      )
    case "mapping values are not allowed in this context":
      Wording(
        message: "`:` is not possible here",
        hint: "put text that holds `: ` in quotes, or indent the key like its neighbours"
      )
    case "mapping keys are not allowed in this context":
      Wording(message: "a key is not possible here", hint: "start it on a line of its own")
    case "block sequence entries are not allowed in this context":
      Wording(message: "a list item is not possible here", hint: "start it on a line of its own")
    case "did not find expected key":
      Wording(message: "expected a key", hint: "indent the line like the keys above it")
    case "did not find expected '-' indicator":
      Wording(message: "expected `- `", hint: "indent the line like the items above it")
    case "did not find expected ',' or ']'":
      Wording(message: "expected `,` or `]`")
    case "did not find expected ',' or '}'":
      Wording(message: "expected `,` or `}`")
    case "did not find expected node content":
      Wording(message: "expected a value")
    case "did not find expected <document start>":
      Wording(message: "the document ends before this")
    case "found unexpected end of stream":
      Wording(message: "the quote is not closed", isAtContext: true)
    case "found unexpected document indicator":
      Wording(message: "the quote is not closed", isAtContext: true)
    case "found unknown escape character":
      Wording(
        message: "no such escape in double quotes",
        hint: "use single quotes for text with backslashes"
      )
    case "did not find expected hexdecimal number":
      Wording(message: "expected hexadecimal digits")
    case "found invalid Unicode character escape code":
      Wording(message: "the escape names no Unicode character")
    case "did not find expected comment or line break":
      Wording(message: "expected a comment or the end of the line")
    case "found an indentation indicator equal to 0":
      Wording(message: "the indentation is a digit from 1 to 9")
    case badName:
      Wording(
        message: "the name of an anchor or alias takes letters and digits",
        hint: "put text that starts with `*` or `&` in quotes",
        isAtContext: true
      )
    case "found undefined tag handle":
      Wording(message: "the tag's prefix is not declared", hint: "remove the tag")
    case "found incompatible YAML document":
      Wording(message: "this version of YAML is not known", hint: "remove the `%YAML` line")
    default:
      Wording(message: "the YAML cannot be read: \(problem)")
    }
  }
}
