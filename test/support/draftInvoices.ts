import { assert } from "vitest"
import type { Answered } from "./service.ts"

/** One request in a tenant, as somebody who may do everything there. */
export type Ask = (method: string, path: string, body?: object) => Promise<Pick<Answered, "status" | "text" | "body">>

interface Terms {
  /** What each line comes to. */
  readonly lines?: ReadonlyArray<number>
  readonly dueAt?: string
}

/** Makes contracts that can be invoiced, and drafts of their invoices. */
export const draftsOver = (ask: Ask) => {
  const make = async (path: string, body: object) => {
    const answer = await ask("POST", path, body)
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body.data
  }
  return {
    contract: async () => {
      const client = await make("/clients", { name: "Northwind" })
      const terms = { clientId: client.id, name: "Pumps", currencyCode: "EUR", status: "ACTIVE" }
      return String((await make("/contracts", terms)).id)
    },

    draft: async (contractId: string, { lines = [1000], ...fields }: Terms = {}) => {
      const invoiceId = String((await make("/invoices", { contractId, ...fields })).id)
      const billables = lines.map((amountMinor) => ({ name: "Valve", amountMinor }))
      if (lines.length > 0) await make("/billables", { invoiceId, billables })
      return invoiceId
    }
  }
}
