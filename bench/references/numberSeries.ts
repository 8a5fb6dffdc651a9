import type { Connection } from "./transaction.ts"

const makeSeries = (document: string, pattern: string) => ({
  pattern,
  lock: {
    name: `${document}_series.lock`,
    text: `
      insert into ${document}_series as series (tenant_id, pattern, last_issued)
      values ($1, $2, date_trunc('milliseconds', clock_timestamp()))
      on conflict (tenant_id) do update
        set last_issued = greatest(series.last_issued, date_trunc('milliseconds', clock_timestamp()))
      returning pattern, last_issued as "issuedAt"`
  },
  increment: {
    name: `${document}_series.next`,
    text: `
      insert into ${document}_counters as counter (tenant_id, period, last) values ($1, $2, 1)
      on conflict (tenant_id, period) do update set last = counter.last + 1 returning last as place`
  }
})

export const invoiceSeries = makeSeries("invoice", "INV-{year}-{seq:6}")
export const creditNoteSeries = makeSeries("credit_note", "CN-{year}-{seq:6}")

/** The next number of a tenant's series, whose row stays locked until the transaction ends. */
export const allocateNumber = async (connection: Connection, series: typeof invoiceSeries, tenant: string) => {
  const { rows } = await connection.query({ ...series.lock, values: [tenant, series.pattern] })
  const { issuedAt, pattern }: { issuedAt: string; pattern: string } = rows[0]
  const period = issuedAt.slice(0, 4)
  const { rows: counters } = await connection.query({ ...series.increment, values: [tenant, period] })
  const { place }: { place: number } = counters[0]
  const number = pattern
    .replace("{year}", period)
    .replace(/\{seq:(\d+)\}/, (_, width: string) => String(place).padStart(Number(width), "0"))
  return { issuedAt, period, place, number }
}
