internal import CSQLite
internal import PrefetchCore

protocol StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    unsafe sqlite3_bind_int64(statement, index, self)
  }
}

extension Int: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    unsafe Int64(self).bind(to: statement, at: index)
  }
}

/// SQLite has no unsigned numbers: large values become negative.
extension UInt64: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    unsafe Int64(bitPattern: self).bind(to: statement, at: index)
  }
}

extension Bool: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    unsafe Int64(self ? 1 : 0).bind(to: statement, at: index)
  }
}

extension Instant: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    unsafe milliseconds.bind(to: statement, at: index)
  }
}

extension String: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    var copy = self
    // `withUTF8` avoids a copy with a zero at the end.
    return copy.withUTF8 { text in
      unsafe prefetch_sqlite_bind_text(
        statement,
        index,
        text.baseAddress,
        Int32(clamping: text.count)
      )
    }
  }
}

extension [UInt8]: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    // An empty array may have no address, which would bind NULL.
    guard !isEmpty else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
    let count = Int32(clamping: count)
    return unsafe sqlite3_bind_blob(statement, index, self, count, prefetch_sqlite_transient())
  }
}

extension ContentDigest: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    unsafe withBytes { bytes in
      let count = Int32(bytes.count)
      return unsafe sqlite3_bind_blob(
        statement,
        index,
        bytes.baseAddress,
        count,
        prefetch_sqlite_transient()
      )
    }
  }
}

extension Optional: StatementValue where Wrapped: StatementValue {
  @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    guard let self else { return unsafe sqlite3_bind_null(statement, index) }
    return unsafe self.bind(to: statement, at: index)
  }
}
