internal import PrefetchCore

/// Signatures in minisign's format: Ed25519, with a signed comment.
package enum Minisign {
  package enum Fault: Error, Hashable, Sendable {
    /// A malformed public key, counted from 1.
    case malformedKey(Int, Malformation)
    case malformedSignature(line: Int, Malformation)
    case wrongKey(signer: MinisignKeyID, trusted: [MinisignKeyID])
    case badSignature(signer: MinisignKeyID)
    case badTrustedComment(signer: MinisignKeyID)
  }

  package enum Malformation: Error, Hashable, Sendable {
    case missing(String)
    case notBase64
    case byteCount(found: Int, expected: Int)
    case unknownAlgorithm
    case notText
    case surplus
    case tooLong
    case unreadableDate
  }

  /// Verifies that one of the keys signed the bytes; returns the trusted comment.
  ///
  /// All keys are parsed first, so that a typing error in any of them is reported.
  package static func verify(
    _ message: RawSpan,
    signature: [UInt8],
    keys: [String]
  ) throws(Fault) -> TrustedComment {
    var trusted: [MinisignPublicKey] = []
    for (index, text) in keys.enumerated() {
      do {
        trusted.append(try MinisignPublicKey(text))
      } catch {
        throw .malformedKey(index + 1, error)
      }
    }
    let signature = try MinisignSignature(parsing: signature)
    let candidates = trusted.filter { $0.id == signature.signer }
    guard !candidates.isEmpty else {
      throw .wrongKey(signer: signature.signer, trusted: trusted.map(\.id))
    }
    let digest = signature.isPrehashed ? BLAKE2b.digest512(of: message) : []
    let signed = signature.isPrehashed ? unsafe digest.span.bytes : message
    guard
      let signer = candidates.first(where: {
        Ed25519.verify(signature.bytes, of: signed, by: $0.bytes)
      })
    else { throw .badSignature(signer: signature.signer) }
    let commented = signature.bytes + signature.commentBytes
    guard
      unsafe Ed25519.verify(signature.commentSignature, of: commented.span.bytes, by: signer.bytes)
    else { throw .badTrustedComment(signer: signature.signer) }
    let comment = TrustedComment(text: String(decoding: signature.commentBytes, as: UTF8.self))
    guard comment.hasReadableDates else { throw .malformedSignature(line: 3, .unreadableDate) }
    return comment
  }

  package static func sign(
    _ message: RawSpan,
    with key: MinisignSecretKey,
    trustedComment: TrustedComment,
    untrustedComment: String = "signature from prefetch"
  ) -> String {
    let digest = BLAKE2b.digest512(of: message)
    let signature = unsafe Ed25519.sign(digest.span.bytes, with: key.seed)
    let comment = Array(trustedComment.text.utf8)
    let commented = signature + comment
    return MinisignSignature(
      isPrehashed: true,
      signer: key.id,
      bytes: signature,
      commentBytes: comment,
      commentSignature: unsafe Ed25519.sign(commented.span.bytes, with: key.seed)
    ).text(untrustedComment: untrustedComment)
  }
}

/// Key id of eight bytes, printed as minisign prints it.
package struct MinisignKeyID: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = Array(bytes)
  }

  package var description: String {
    Hexadecimal.encode(bytes.reversed()).uppercased()
  }
}

package struct MinisignPublicKey: Hashable, Sendable {
  package let id: MinisignKeyID
  let bytes: [UInt8]

  /// Parses the key line alone, or a key file with its comment line.
  package init(_ text: String) throws(Minisign.Malformation) {
    let lines = text.split(whereSeparator: \.isNewline)
    let isFile = lines.first?.hasPrefix(MinisignText.untrustedComment) ?? false
    guard let line = isFile ? lines.dropFirst().first : lines.first else {
      throw .missing("the key")
    }
    guard lines.count == (isFile ? 2 : 1) else { throw .surplus }
    let fields = try MinisignText.decode(line, byteCount: 42)
    guard fields[..<2].elementsEqual(MinisignText.algorithm) else { throw .unknownAlgorithm }
    id = MinisignKeyID(fields[2..<10])
    bytes = Array(fields[10...])
  }
}

extension Minisign.Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformedKey(let number, let problem):
      "public key \(number) is not valid in minisign: \(problem)"
    case .malformedSignature(let line, let problem):
      "line \(line) of the signature is not valid in minisign: \(problem)"
    case .wrongKey(let signer, let trusted) where trusted.isEmpty:
      "it is signed with the key \(signer), and no key is trusted"
    case .wrongKey(let signer, let trusted):
      "it is signed with the key \(signer), which is not one of the trusted keys "
        + "(\(trusted.map(\.description).joined(separator: ", ")))"
    case .badSignature(let signer):
      "the key \(signer) did not sign these bytes"
    case .badTrustedComment(let signer):
      "the key \(signer) did not sign the trusted comment"
    }
  }
}

extension Minisign.Malformation: CustomStringConvertible {
  package var description: String {
    switch self {
    case .missing(let part): "\(part) is missing"
    case .notBase64: "it is not base64"
    case .byteCount(let found, let expected): "it holds \(found) bytes instead of \(expected)"
    case .unknownAlgorithm: "it is for another algorithm than Ed25519"
    case .notText: "it is not UTF-8"
    case .surplus: "nothing may follow here"
    case .tooLong: "it is too long for minisign"
    case .unreadableDate: "`timestamp` and `expires` are seconds since 1970, each at most once"
    }
  }
}
