internal import PrefetchCore

/// Messages from one thread to another, in order and in batches.
///
/// The sender rings only for a sleeping receiver, and for a dozing one only if urgent, so that a
/// busy receiver costs no system calls.
final class Mailbox<Message: Sendable>: Sendable {
  enum Sleep: Hashable, Sendable {
    case awake
    case dozing
    case asleep
  }

  private struct State: Sendable {
    var messages: [Message] = []
    var sleep = Sleep.awake
  }

  private let state = Locked(State())
  let bell: Bell

  init() throws(Failure) {
    bell = try Bell()
  }

  /// Posts a batch; the sender gets an empty array back.
  func post(_ batch: inout [Message], isUrgent: Bool = true) {
    guard !batch.isEmpty else { return }
    let mustRing = state.withLock { state in
      if state.messages.isEmpty {
        swap(&state.messages, &batch)
      } else {
        state.messages += batch
      }
      guard state.sleep == .asleep || (state.sleep == .dozing && isUrgent) else { return false }
      state.sleep = .awake
      return true
    }
    batch.removeAll(keepingCapacity: true)
    if mustRing { bell.ring() }
  }

  func drain(into batch: inout [Message]) {
    batch.removeAll(keepingCapacity: true)
    state.withLock { state in
      state.sleep = .awake
      swap(&state.messages, &batch)
    }
  }

  /// Announces sleep, so that new messages ring; returns false when messages are there.
  func willSleep(_ sleep: Sleep = .asleep) -> Bool {
    state.withLock { state in
      guard state.messages.isEmpty else { return false }
      state.sleep = sleep
      return true
    }
  }
}
