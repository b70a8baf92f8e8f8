/// Body that arrived for a plain item, with the parts of its response that the index keeps.
///
/// A class, since worker and index share it; other facts are in the entry table of ``OrderTerms``.
package final class Arrival: Sendable {
  package let terms: OrderTerms
  package let entry: Int
  package let body: StagedBody
  package let status: Int
  package let headers: HeaderBlock
  package let validators: Validators
  package let mime: String?
  package let freshness: Freshness
  package let variance: Variance?
  package let timing: Freshness.Timing

  package var at: Instant { timing.now }

  init(
    _ response: TransferResponse,
    body: StagedBody,
    mime: String?,
    variance: Variance?,
    of entry: Int,
    under terms: OrderTerms,
    at timing: Freshness.Timing
  ) {
    self.terms = terms
    self.entry = entry
    self.body = body
    self.mime = mime
    self.variance = variance
    self.timing = timing
    status = response.status
    headers = Revalidation.storable(response.headers)
    validators = Validators(response.headers)
    freshness = Freshness(response.headers, at: timing)
  }

  package var url: String {
    terms.urls.text(at: entry)
  }

  package var record: ContentRecord {
    let entry = terms.table.value.entry(at: entry, identified: false)
    var record = ContentRecord(url: entry.url.string, id: entry.id ?? "")
    record.describe(entry)
    record.state = .cached
    record.digest = body.digest
    record.size = body.size
    record.mime = mime ?? entry.mime
    record.status = status
    record.headers = headers
    record.validators = validators
    record.fetchedAt = at
    record.validatedAt = at
    record.freshness = freshness
    record.variance = variance
    return record
  }
}
