package import PrefetchCore

extension StateStore {
  /// Whether any lesson is stored; if not, the configuration's canonical form is not needed.
  package var hasProtocolLessons: Bool {
    get throws(Failure) {
      try database.rows("SELECT 1 FROM protocol_lessons LIMIT 1").step()
    }
  }

  /// Returns what recent runs of this configuration learnt about hosts' HTTP versions.
  package func protocolLessons(
    configuration: UInt64,
    at now: Instant
  ) throws(Failure) -> [ProtocolLesson: Set<String>] {
    // The upper bound drops lessons that a wrong clock recorded.
    let rows = try database.rows(
      """
      SELECT lesson, host FROM protocol_lessons WHERE configuration=\(configuration) AND until>\(now) \
      AND until<=\(now + Self.lessonMemory)
      """
    )
    var lessons: [ProtocolLesson: Set<String>] = [:]
    while try rows.step() {
      guard let lesson = ProtocolLesson(rawValue: Int(rows.number(0))) else { continue }
      lessons[lesson, default: []].insert(rows.text(1))
    }
    return lessons
  }

  package func record(
    _ lessons: [ProtocolLesson: Set<String>],
    configuration: UInt64,
    at now: Instant
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try database.run(
        "DELETE FROM protocol_lessons WHERE until<=\(now) OR until>\(now + Self.lessonMemory)"
      )
      let insertion = database.prepare(
        """
        INSERT OR REPLACE INTO protocol_lessons (configuration, host, lesson, until)
        VALUES (?1, ?2, ?3, ?4)
        """
      )
      for lesson in ProtocolLesson.allCases {
        for host in (lessons[lesson] ?? []).sorted() {
          try insertion.run(configuration, host, lesson.rawValue, now + Self.lessonMemory)
        }
      }
    }
  }

  private static let lessonMemory: Duration = .seconds(86_400)
}
