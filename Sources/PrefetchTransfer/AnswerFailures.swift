internal import PrefetchCore

/// What may be wrong with an answer although libcurl has nothing against it.
struct AnswerFailures {
  let host: String

  var lostHead: Failure {
    Failure(.reset, "`\(host)` ended the connection within the headers", isTransient: true)
  }

  var openEnd: Failure {
    let message = "`\(host)` gave no length, so nobody can tell whether the body is whole"
    return Failure(.truncated, message, isTransient: true)
  }

  var shortRest: Failure {
    Failure(.truncated, "`\(host)` sent less of the body than it announced", isTransient: true)
  }

  var longRest: Failure {
    Failure(.badResponse, "`\(host)` sends more of the body than it announced", isTransient: true)
  }

  /// A coded body that is whole on the wire, but ends too early or has another checksum.
  var damagedCoding: Failure {
    Failure(.badResponse, "`\(host)` sent a gzip stream that is damaged")
  }

  var excess: Failure {
    Failure(.badResponse, "`\(host)` sent more than its answer")
  }

  var noMemory: Failure {
    Failure(.internal, "no memory left to decode a body from `\(host)`")
  }

  func tooLarge(_ what: String) -> Failure {
    Failure(.tooLarge, "`\(host)` \(what)")
  }
}

extension Failure {
  /// Whether what arrived before it is as good as it was.
  var leavesGoodBytes: Bool {
    code.category == .connectivity || code == .cancelled || code == .diskFull
  }
}
