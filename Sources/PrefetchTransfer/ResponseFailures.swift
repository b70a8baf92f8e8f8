internal import PrefetchCore

/// Failures of a response that libcurl accepts.
struct ResponseFailures {
  let host: String

  var lostHead: Failure {
    Failure(.reset, "`\(host)` ended the connection within the headers", isTransient: true)
  }

  var openEnd: Failure {
    let message = "`\(host)` gave no length, so the body may be incomplete"
    return Failure(.truncated, message, isTransient: true)
  }

  var openStream: Failure {
    Failure(
      .truncated,
      "`\(host)` gave no length over HTTP/2, so a body that was cut could pass for the whole",
      isTransient: true
    )
  }

  func openStream(refused reason: Failure) -> Failure {
    Failure(
      .truncated,
      "\(openStream.message), and HTTP/1.1 was refused: \(reason.message)",
      isTransient: reason.isTransient
    )
  }

  func brokenChunk(_ size: String) -> Failure {
    Failure(.badResponse, "`\(host)` sent a body in broken chunks: `\(size)` is not a size")
  }

  var shortRest: Failure {
    Failure(.truncated, "`\(host)` sent less of the body than it announced", isTransient: true)
  }

  var longRest: Failure {
    Failure(.badResponse, "`\(host)` sends more of the body than it announced", isTransient: true)
  }

  /// Failure of a coded body that arrived whole, but is cut or has a wrong checksum.
  var damagedCoding: Failure {
    Failure(.badResponse, "`\(host)` sent a gzip stream that is damaged")
  }

  var emptyCoding: Failure {
    Failure(.badResponse, "`\(host)` sends a coded body that holds less than it takes")
  }

  var excess: Failure {
    Failure(.badResponse, "`\(host)` sent bytes after its response")
  }

  var noMemory: Failure {
    Failure(.internal, "no memory left to decode a body from `\(host)`")
  }

  func tooLarge(_ what: String) -> Failure {
    Failure(.tooLarge, "`\(host)` \(what)")
  }
}

extension TransferResult {
  /// Failure that shows that the server refuses HTTP/1.1; nil when the result does not show that.
  var http1Refusal: Failure? {
    switch outcome {
    case .failure(let failure):
      guard figures.version == nil else { return nil }
      switch failure.code {
      // A handshake without a common protocol fails every time, so this failure is not transient.
      case .tls: return Failure(failure.code, failure.message)
      case .reset: return failure
      default: return nil
      }
    case .success(let response):
      guard [421, 426, 505].contains(response.status) else { return nil }
      return Failure(.badResponse, "status \(response.status)")
    }
  }
}

extension Failure {
  var leavesGoodBytes: Bool {
    code.category == .connectivity || code == .cancelled || code == .diskFull
  }
}
