import type pg from "pg"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { insertInvoices } from "../../invoiceSeed.ts"
import { type Attacker, connectAttacker, repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

/** The maximum of MAX_INVOICE_LINES, each with the longest description. Adding the lines over HTTP would take too long. */
const lineCount = 20_000
const description = "a\n".repeat(512)
/** Long enough for the thread that draws longer documents. */
const neighbourLines = 300
const maxNeighbourMillis = 5000
const concurrency = 8
const pauseMillis = 500

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const insertDraft = async (attacker: Attacker, client: pg.Client, lines: number) => {
  const tenant = await attacker.createTenant()
  const clientId = await attacker.create("/clients", { tenant, body: { name: "Client" } })
  const invoice = makeId("inv")
  await insertInvoices(client, {
    id: tenant,
    clients: [clientId],
    creditNotes: [],
    invoices: [invoice],
    status: "DRAFT",
    lines,
    taxRates: []
  })
  return { tenant, path: `/invoices/${invoice}/pdf` }
}

export const brokenLines: Row = {
  name: `PDF of a draft whose ${lineCount} descriptions break after each letter, while another caller draws ${neighbourLines} lines`,
  prepare: async ({ attacker, baseUrl, client, signTokenFor }) => {
    const draft = await insertDraft(attacker, client, lineCount)
    await client.query("update billables set description = $2 where tenant_id = $1", [draft.tenant, description])
    const neighbour = connectAttacker(baseUrl, await signTokenFor("neighbour"))
    const own = await insertDraft(neighbour, client, neighbourLines)
    await client.query("vacuum analyze billables")
    let slowest = 0
    const drawOwn = async (signal: AbortSignal) => {
      await sleep(pauseMillis)
      while (!signal.aborted) {
        const startedAt = performance.now()
        await neighbour.call("GET", own.path, { tenant: own.tenant, signal })
        slowest = Math.max(slowest, performance.now() - startedAt)
        await sleep(pauseMillis)
      }
    }
    return {
      run: async (signal) => {
        const attacks = repeat({ concurrency, signal }, () =>
          attacker.call("GET", draft.path, { tenant: draft.tenant, signal })
        )
        await Promise.all([attacks, drawOwn(signal)])
      },
      check: async () => {
        await neighbour.close()
        const description = `the other PDF took up to ${slowest.toFixed(0)} ms`
        return [{ description, isViolation: slowest > maxNeighbourMillis }]
      }
    }
  }
}
