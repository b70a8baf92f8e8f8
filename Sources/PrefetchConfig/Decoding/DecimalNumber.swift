import PrefetchCore
import PrefetchDocuments

extension Node {
  /// Copy of an unquoted number in plain digits (`1e3` as `1000`), since schemas see no difference.
  var asDecimalNumber: Node? {
    guard case .scalar(let scalar) = content, scalar.kind == .number || scalar.kind == .unquoted,
      scalar.text.utf8.contains(where: { "-.eE".utf8.contains($0) }),
      let text = Self.decimalText(scalar.text)
    else { return nil }
    var node = self
    node.content = .scalar(Scalar(text, kind: scalar.kind))
    return node
  }

  private static func decimalText(_ text: String) -> String? {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(omittingEmptySubsequences: false) {
      $0 == "e" || $0 == "E"
    }
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, mantissa.count <= 2,
      mantissa.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isDigit) }),
      let exponent = parts.count == 2 ? Int(parts[1]) : 0, (-40...40).contains(exponent)
    else { return nil }
    let fraction = mantissa.count == 2 ? mantissa[1] : ""
    let zeros = String(repeating: "0", count: abs(exponent))
    let digits = Array((zeros + mantissa[0] + fraction + zeros).utf8)
    let point = zeros.utf8.count + mantissa[0].utf8.count + exponent
    let whole = digits[..<point].drop { $0 == 0x30 }
    let rest = digits[point...].reversed().drop { $0 == 0x30 }.reversed()
    let number = whole.isEmpty ? "0" : String(decoding: whole, as: UTF8.self)
    let tail = rest.isEmpty ? "" : ".\(String(decoding: rest, as: UTF8.self))"
    return "\(isNegative && number + tail != "0" ? "-" : "")\(number)\(tail)"
  }
}
