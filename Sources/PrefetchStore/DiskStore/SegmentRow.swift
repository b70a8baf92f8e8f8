internal import PrefetchCore

/// Codes a segment's record as a row of `segments`.
enum SegmentRow {
  static let columns =
    """
    segment, identity, name, priority, manifest_url, manifest, manifest_final_url, etag, \
    last_modified, generated, item_count, last_checked, last_success, state, quiet_until, \
    quiet_rules, quiet_items, quiet_bytes, hosts, asked, shard, retained, newest
    """

  static let replacement =
    """
    INSERT INTO segments (identity, name, priority, manifest_url, manifest, manifest_final_url, \
    etag, last_modified, generated, item_count, last_checked, last_success, state, quiet_until, \
    quiet_rules, quiet_items, quiet_bytes, hosts, asked, shard, retained, newest) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
    ?20, ?21, ?22) \
    ON CONFLICT (identity, name) DO UPDATE SET priority=?3, manifest_url=?4, manifest=?5, \
    manifest_final_url=?6, etag=?7, last_modified=?8, generated=?9, item_count=?10, \
    last_checked=?11, last_success=?12, state=?13, quiet_until=?14, quiet_rules=?15, \
    quiet_items=?16, quiet_bytes=?17, hosts=?18, asked=?19, shard=?20, \
    retained=?21, newest=?22
    """

  static func bind(_ record: SegmentRecord, to statement: borrowing Statement) throws(Failure) {
    try statement.set(
      record.key.identity,
      record.key.name,
      record.priority,
      record.manifestURL,
      record.manifest,
      record.manifestFinalURL.map(SealedURL.text),
      record.validators.entityTag,
      record.validators.lastModified,
      record.generated,
      record.itemCount,
      record.lastChecked,
      record.lastSuccess,
      record.state.rawValue,
      record.quiet?.until,
      record.quiet?.rules,
      record.quiet?.itemCount,
      record.quiet?.bytes,
      record.hosts?.joined(separator: "\n"),
      record.manifestRequestHash,
      record.shard,
      RetainedItems.encode(record.retained),
      NewestLines.encode(record.newest)
    )
  }

  static func read(_ row: borrowing Statement) throws(Failure) -> SegmentRecord {
    var record = SegmentRecord(key: SegmentKey(identity: row.text(1), name: row.text(2)))
    record.priority = row.optionalNumber(3).map(Int.init)
    record.manifestURL = row.optionalText(4)
    if !row.isNull(5) {
      record.manifest = try row.digest(5, of: row.optionalText(4) ?? row.text(2))
    }
    record.manifestFinalURL = row.optionalText(6)
    record.validators.entityTag = row.optionalText(7)
    record.validators.lastModified = row.optionalText(8)
    record.generated = row.instant(9)
    record.itemCount = Int(row.number(10))
    record.lastChecked = row.instant(11)
    record.lastSuccess = row.instant(12)
    guard let state = SegmentState(rawValue: row.text(13)) else {
      throw RecordRow.damaged("state", of: record.key.name)
    }
    record.state = state
    record.quiet = row.instant(14).map { until in
      QuietMark(
        until: until,
        rules: UInt64(bitPattern: row.number(15)),
        itemCount: Int(row.number(16)),
        bytes: row.number(17)
      )
    }
    record.hosts = row.optionalText(18)?.split(separator: "\n").map(String.init)
    record.manifestRequestHash = row.optionalNumber(19).map { UInt64(bitPattern: $0) }
    record.shard = row.optionalText(20)
    record.retained = try RetainedItems.decode(row.optionalText(21))
    record.newest = NewestLines.decode(row.optionalText(22))
    return record
  }
}
