import { assert } from "vitest"
import { draftsOver } from "./draftInvoices.ts"
import type { CallOptions, Service } from "./service.ts"

export interface Issued {
  readonly id: string
  readonly invoiceNumber: string
  readonly issuedAt: string
}

/** A tenant of its own with a contract, and what is done to its invoices and to the series of their numbers. */
export const newSeries = async (service: Service) => {
  const tenant = await service.newTenant()
  const call = (method: string, path: string, options: CallOptions = {}) =>
    service.api(method, path, { as: "owner", tenant, ...options })
  const { contract, draft: draftOf } = draftsOver((method, path, body) => call(method, path, { body }))
  const contractId = await contract()

  const draft = (terms?: Parameters<typeof draftOf>[1]) => draftOf(contractId, terms)
  const finalize = (id: string, headers = {}) => call("POST", `/invoices/${id}/finalize`, { headers })
  const issue = async (id: string): Promise<Issued> => {
    const { body, status, text } = await finalize(id)
    assert.strictEqual(status, 200, text)
    return body.data
  }
  const next = async () => issue(await draft())
  const use = (pattern: unknown) => call("PATCH", "/invoice-series", { body: { pattern } })

  return {
    tenant,
    call,
    draft,
    /** Drafts under two contracts, so that they do not wait for each other before they wait for a number. */
    drafts: async (count: number) => {
      const contracts = [contractId, await contract()]
      return Promise.all(Array.from({ length: count }, (_, index) => draftOf(contracts[index % 2] ?? "")))
    },
    finalize,
    issue,
    next,
    /** The next numbers. */
    numbers: async (count: number) => {
      const given: Array<string> = []
      while (given.length < count) given.push((await next()).invoiceNumber)
      return given
    },
    use,
    /** From now on numbers look like this. */
    using: async (pattern: string) => {
      const { body, status, text } = await use(pattern)
      assert.deepStrictEqual([status, body.data?.pattern], [200, pattern], text)
    },
    series: async () => {
      const { body, status, text } = await call("GET", "/invoice-series")
      assert.strictEqual(status, 200, text)
      return body.data
    }
  }
}

export type Series = Awaited<ReturnType<typeof newSeries>>
