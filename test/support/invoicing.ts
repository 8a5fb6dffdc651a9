import type pg from "pg"
import { assert } from "vitest"
import { makerIn, type Shown } from "./resources.ts"
import type { Answered, Service } from "./service.ts"

export interface ShownInvoice extends Shown {
  readonly contract: string
  readonly status: "DRAFT" | "FINALIZED" | "PAID" | "VOID"
  readonly currencyCode: string
  readonly subtotalMinor: number
  readonly totalMinor: number
  readonly billableCount: number
  readonly updatedAt: string
}

export interface ShownLine extends Shown {
  readonly invoice: string
  readonly lineTotalMinor: number
}

/** How an invoice gets into a status. */
const ways = { DRAFT: [], FINALIZED: ["finalize"], PAID: ["finalize", "pay"], VOID: ["finalize", "void"] } as const

export const statuses = ["DRAFT", "FINALIZED", "PAID", "VOID"] as const satisfies ReadonlyArray<keyof typeof ways>

/** A line as it is sent, of 100 unless told otherwise. */
export const lineOf = (fields: object = {}) => ({ name: "Line", amountMinor: 100, ...fields })

const dataOf = async <A>(status: number, answer: Promise<Answered>): Promise<A> => {
  const { body, status: answered, text } = await answer
  assert.strictEqual(answered, status, text)
  return body?.data
}

/** Invoices of one tenant. What is named after what it does must succeed; `try…` hands the answer over. */
export const invoicingIn = (service: Service, tenant: string, as = "owner") => {
  const call = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    service.api(method, path, { as, tenant, headers, ...(body === undefined ? {} : { body }) })

  /** A contract that can be invoiced. */
  const contract = (fields: object = {}) =>
    makerIn(service, tenant, as).make("contracts", { status: "ACTIVE", ...fields })

  /** An empty draft, under a contract of its own unless `fields` name one. */
  const draft = async (fields: object = {}) => {
    const contractId = "contractId" in fields ? {} : { contractId: (await contract()).id }
    return dataOf<ShownInvoice>(201, call("POST", "/invoices", { ...contractId, ...fields }))
  }

  const tryAdd = (invoiceId: string, ...lines: ReadonlyArray<object>) =>
    call("POST", "/billables", { invoiceId, billables: lines.map(lineOf) })
  const add = (invoiceId: string, ...lines: ReadonlyArray<object>) =>
    dataOf<ReadonlyArray<ShownLine>>(201, tryAdd(invoiceId, ...lines))

  const tryMove = (invoiceId: string, move: string) => call("POST", `/invoices/${invoiceId}/${move}`)
  const move = (invoiceId: string, to: string) => dataOf<ShownInvoice>(200, tryMove(invoiceId, to))

  return {
    tenant,
    call,
    contract,
    draft,
    tryAdd,
    add,
    tryMove,
    move,
    read: (invoiceId: string) => dataOf<ShownInvoice>(200, call("GET", `/invoices/${invoiceId}`)),
    /** The first 200 lines of an invoice. */
    lines: (invoiceId: string) =>
      dataOf<ReadonlyArray<ShownLine>>(200, call("GET", `/billables?invoiceId=${invoiceId}&limit=200`)),

    /** An invoice of one line in a status. */
    invoiceIn: async (status: keyof typeof ways, fields: object = {}, line: object = {}) => {
      const { id } = await draft(fields)
      const [made] = await add(id, line)
      for (const step of ways[status]) await move(id, step)
      return { id, line: made?.id ?? assert.fail("no line") }
    }
  }
}

/** Every row of a tenant that invoicing writes, to be compared before and after. */
export const ledgerOf = async (pool: pg.Pool, tenant: string) => {
  const rowsOf = async (table: string, key: string) => {
    const statement = `select to_json(this)::text as row from ${table} this where tenant_id = $1 order by ${key}`
    const { rows } = await pool.query<{ row: string }>(statement, [tenant])
    return rows.map(({ row }) => row)
  }
  return {
    contracts: await rowsOf("contracts", "id"),
    invoices: await rowsOf("invoices", "id"),
    billables: await rowsOf("billables", "id"),
    series: await rowsOf("invoice_series", "tenant_id"),
    counters: await rowsOf("invoice_counters", "period"),
    events: await rowsOf("events", "id")
  }
}

/** What a contract's invoices come to, as the contract keeps it. */
export const billedUnder = async (pool: pg.Pool, contract: string) => {
  const { rows } = await pool.query<{ billed: string }>(
    "select billed_minor::text as billed from contracts where id = $1",
    [contract]
  )
  return Number(rows[0]?.billed)
}
