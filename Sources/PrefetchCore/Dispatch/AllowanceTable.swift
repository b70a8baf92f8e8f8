/// Remaining bytes of each budget, shared by all transfers that start under it.
struct AllowanceTable: Sendable {
  private struct Period: Hashable, Sendable {
    var day: String
    var type: NetworkType?
  }

  private var allowances: [ByteBudget: TransferRequest.Allowance] = [:]
  private var period: Period?
  private var count = 0

  mutating func renew() {
    period = nil
  }

  mutating func of(
    _ budgets: [ByteBudget],
    after usage: TransferUsage,
    on day: String,
    over type: NetworkType?
  ) -> [TransferRequest.Allowance] {
    let current = Period(day: day, type: type)
    if period != current { (period, allowances) = (current, [:]) }
    return budgets.compactMap { budget in
      if let allowance = allowances[budget] { return allowance }
      guard let bytes = budget.remaining(usage, over: type, on: day),
        let whole = budget.limit(over: type)
      else { return nil }
      count += 1
      let allowance = TransferRequest.Allowance(
        number: count,
        bytes: bytes,
        whole: whole,
        period: budget.period
      )
      allowances[budget] = allowance
      return allowance
    }
  }
}
