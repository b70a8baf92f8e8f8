import PrefetchCore
import PrefetchDocuments

extension ValueType {
  static func list<Element: Sendable>(
    of element: ValueType<Element>,
    atLeast minimum: Int = 0
  ) -> Self where Value == [Element] {
    Self(
      shape: .list(element.shape, ListRule(minimum: minimum)),
      decode: { node, decoder in
        guard case .sequence(let nodes) = node.content else {
          let hint = node.scalar.map { _ in "write `[…]`, or one entry a line after `- `" }
          decoder.reportWrongType(of: node, expected: "a list", hint: hint)
          return nil
        }
        if nodes.count < minimum {
          decoder.report(
            "config.bad-value",
            "an empty list has no meaning for `\(decoder.lastKey)`",
            at: node
          )
          return nil
        }
        var values: [Element] = []
        for (index, node) in nodes.enumerated() {
          decoder.descend(.index(index)) { decoder in
            if let value = element.decode(node, &decoder) { values.append(value) }
          }
        }
        return values
      },
      encode: { .array($0.map(element.encode)) }
    )
  }

  static func oneOrMore<Element: Sendable>(
    _ element: ValueType<Element>
  ) -> Self where Value == [Element] {
    let list = ValueType<[Element]>.list(of: element)
    return Self(
      shape: .list(element.shape, ListRule(acceptsOne: true)),
      decode: { node, decoder in
        guard node.scalar != nil else { return list.decode(node, &decoder) }
        return element.decode(node, &decoder).map { [$0] }
      },
      encode: list.encode
    )
  }

  static func map<Element: Sendable>(
    of keys: KeyRule,
    to element: ValueType<Element>
  ) -> Self where Value == [String: Element] {
    Self(
      shape: .map(keys, element.shape),
      decode: { node, decoder in
        guard case .mapping(let entries) = node.content else {
          decoder.reportWrongType(of: node, expected: "a mapping of \(keys.summary)")
          return nil
        }
        var values: [String: Element] = [:]
        for entry in entries {
          decoder.descend(.key(entry.key)) { decoder in
            guard let key = decoder.checkedKey(entry, by: keys) else { return }
            decoder.recordOrigin(of: entry.value, shape: element.shape)
            guard let value = element.decode(entry.value, &decoder) else { return }
            guard values.updateValue(value, forKey: key) != nil else { return }
            let message = "`\(entry.key)` means the same as an earlier key"
            decoder.report("config.duplicate-key", message, atKeyOf: entry)
          }
        }
        return values
      },
      encode: { values in
        .object(values.sorted { $0.key < $1.key }.map { ($0.key, element.encode($0.value)) })
      }
    )
  }
}
