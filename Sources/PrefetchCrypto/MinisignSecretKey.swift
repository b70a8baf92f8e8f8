internal import COpenSSL
internal import PrefetchCore

/// A signing key; the public half verifies the password, so the file's checksum is ignored.
package struct MinisignSecretKey: Sendable {
  package enum Fault: Error, Hashable, Sendable {
    case malformed(line: Int, Minisign.Malformation)
    case needsPassword
    case wrongPassword
    case damaged
    /// The key's derivation costs more than minisign ever writes, or than memory allows.
    case tooExpensive
  }

  package let id: MinisignKeyID
  package let publicKey: String
  let seed: [UInt8]

  package static func isEncrypted(_ file: [UInt8]) throws(Fault) -> Bool {
    try MinisignKeyFile(file).derivation == .scrypt
  }

  package init(_ file: [UInt8], password: [UInt8]? = nil) throws(Fault) {
    let file = try MinisignKeyFile(file)
    var fields = file.fields
    if file.derivation == .scrypt {
      guard let password else { throw .needsPassword }
      let stream = try Scrypt.derive(
        file.fields.count,
        password: password,
        salt: file.salt,
        cost: file.cost
      )
      fields = zip(fields, stream).map { $0 ^ $1 }
    }
    let seed = Array(fields[8..<40])
    guard Ed25519.publicKey(of: seed) == Array(fields[40..<72]) else {
      throw file.derivation == .scrypt ? .wrongPassword : .damaged
    }
    id = MinisignKeyID(fields[..<8])
    publicKey = Base64.encode(MinisignText.algorithm + fields[..<8] + fields[40..<72])
    self.seed = seed
  }
}

private struct MinisignKeyFile {
  enum Derivation {
    case none
    case scrypt
  }

  let derivation: Derivation
  let salt: [UInt8]
  let cost: Scrypt.Cost
  /// Key id, seed, public key and checksum, possibly encrypted.
  let fields: [UInt8]

  init(_ file: [UInt8]) throws(MinisignSecretKey.Fault) {
    guard file.count <= 4096 else { throw .malformed(line: 1, .tooLong) }
    let text = String(decoding: file, as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline)
    guard let first = lines.first, first.hasPrefix(MinisignText.untrustedComment) else {
      throw .malformed(line: 1, .missing("`\(MinisignText.untrustedComment)`"))
    }
    guard lines.count >= 2 else { throw .malformed(line: 2, .missing("the key")) }
    guard lines.count == 2 else { throw .malformed(line: 3, .surplus) }
    let bytes: [UInt8]
    do {
      bytes = try MinisignText.decode(lines[1], byteCount: 158)
    } catch {
      throw .malformed(line: 2, error)
    }
    guard bytes[..<2].elementsEqual(MinisignText.algorithm),
      bytes[4..<6].elementsEqual(Array("B2".utf8))
    else { throw .malformed(line: 2, .unknownAlgorithm) }
    switch Array(bytes[2..<4]) {
    case [0, 0]: derivation = .none
    case Array("Sc".utf8): derivation = .scrypt
    default: throw .malformed(line: 2, .unknownAlgorithm)
    }
    salt = Array(bytes[6..<38])
    cost = Scrypt.Cost(operations: Self.number(bytes[38..<46]), memory: Self.number(bytes[46..<54]))
    fields = Array(bytes[54...])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Password-based key derivation with libsodium's cost parameters.
private enum Scrypt {
  struct Cost {
    var operations: UInt64
    var memory: UInt64
  }

  /// Four times minisign's costs; larger ones are an attack.
  private static let limit = Cost(operations: 1 << 27, memory: 1 << 32)
  private static let blockSize: UInt64 = 8

  static func derive(
    _ byteCount: Int,
    password: [UInt8],
    salt: [UInt8],
    cost: Cost
  ) throws(MinisignSecretKey.Fault) -> [UInt8] {
    guard cost.operations <= limit.operations, cost.memory <= limit.memory else {
      throw .tooExpensive
    }
    let (rounds, parallelism) = parameters(of: cost)
    var key = [UInt8](repeating: 0, count: byteCount)
    let status = unsafe password.withUnsafeBytes { bytes in
      unsafe EVP_PBE_scrypt(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        bytes.count,
        salt,
        salt.count,
        rounds,
        blockSize,
        parallelism,
        limit.memory * 2,
        &key,
        key.count
      )
    }
    guard status == 1 else {
      ERR_clear_error()
      throw .tooExpensive
    }
    return key
  }

  /// Returns scrypt's N and p as libsodium's `crypto_pwhash_scryptsalsa208sha256` computes them.
  private static func parameters(of cost: Cost) -> (rounds: UInt64, parallelism: UInt64) {
    let operations = max(cost.operations, 32_768)
    let isBoundByWork = operations < cost.memory / 32
    let most = isBoundByWork ? operations / (blockSize * 4) : cost.memory / (blockSize * 128)
    var exponent: UInt64 = 1
    while exponent < 63, 1 << exponent <= most / 2 {
      exponent += 1
    }
    let rounds: UInt64 = 1 << exponent
    guard !isBoundByWork else { return (rounds, 1) }
    return (rounds, min(operations / 4 / rounds, 0x3FFF_FFFF) / blockSize)
  }
}

extension MinisignSecretKey.Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformed(let line, let problem):
      "line \(line) is not valid in a secret key of minisign: \(problem)"
    case .needsPassword: "it is encrypted, so its password is needed"
    case .wrongPassword: "the password is not this key's"
    case .damaged: "its halves do not belong together, so it is damaged"
    case .tooExpensive: "its password asks for more memory or work than there may be"
    }
  }
}
