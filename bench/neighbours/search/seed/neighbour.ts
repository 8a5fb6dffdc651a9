import { Effect } from "effect"
import type pg from "pg"
import { quotas } from "../../../../src/domain/quotas/Quotas.ts"
import { withProgress } from "../../../../tools/local/ConsoleProgress.ts"
import { seededParties } from "../../../invoiceSeed.ts"
import { type Attacker, repeat } from "../../attacker.ts"
import type { AttackFixture } from "../../row.ts"
import { createWebhook } from "../../rows/integrations.ts"
import { makePools, type Pools } from "../pools.ts"
import { makeClientStatements, makeTenantStatements } from "./contracting.ts"
import {
  attachImages,
  createReadyAsset,
  finalizeDocuments,
  insertDraftCreditNotes,
  insertUploadedAssets
} from "./documents.ts"
import { makeHistoryStatements, makeIntegrationStatements } from "./integrations.ts"
import { makeInvoiceStatements, makeSettlementStatements } from "./invoicing.ts"
import type { SeedSettings } from "./sql.ts"

/** No more can be added to the webhook integration: they are added to others. */
const subscriptionCount = quotas.subscriptions.default - 1

const applySettings = async (client: pg.Client, settings: SeedSettings) => {
  for (const [name, value] of Object.entries(settings)) {
    await client.query("select set_config('seed.' || $1, $2, false)", [name, value])
  }
}

const runAll = async (client: pg.Client, statements: ReadonlyArray<string>) => {
  for (const statement of statements) await client.query(statement)
}

/** These rows are not to be processed, and their references need no checks. */
const runWithoutTriggers = async (client: pg.Client, statements: ReadonlyArray<string>) => {
  await client.query("begin")
  await client.query("set local session_replication_role = replica")
  await runAll(client, statements)
  await client.query("commit")
}

const subscribe = async (attacker: Attacker, tenant: string, webhook: string, pools: Pools) => {
  const ids: Array<string> = []
  await repeat({ concurrency: 8, total: subscriptionCount }, async (n) => {
    const body = { eventType: "client.updated", clientId: pools["client"]?.getId(n) }
    ids.push(await attacker.create(`/integrations/${webhook}/subscriptions`, { tenant, body }))
  })
  return ids
}

const createEmailIntegration = (attacker: Attacker, tenant: string) => {
  const config = { host: "127.0.0.1", port: 9, security: "STARTTLS", from: "books@example.com" }
  return attacker.create("/integrations", { tenant, body: { provider: "EMAIL", name: "Mail", config } })
}

const step = <A>(label: string, work: () => Promise<A>) =>
  withProgress(`Adding ${label}`, Effect.promise(work), () => `Added ${label}`)

/** What grows over years. */
const insertRows = (client: pg.Client, tenant: string, pools: Pools) =>
  Effect.gen(function* () {
    const base = [...makeTenantStatements(pools), ...makeClientStatements(pools), ...makeIntegrationStatements(pools)]
    yield* step("clients, contracts and integrations", () => runWithoutTriggers(client, base))
    yield* step("events and deliveries", () => runWithoutTriggers(client, makeHistoryStatements(pools)))
    yield* step("invoices", () => runAll(client, makeInvoiceStatements(pools)))
    yield* step("payments and the journal", () => runWithoutTriggers(client, makeSettlementStatements(pools)))
    yield* step("credit notes", () => insertDraftCreditNotes(client, tenant, pools))
    yield* step("statistics", () => client.query("vacuum analyze"))
  })

/** Creates the large tenant of the attacker, and returns its resources. */
export const seedNeighbour = ({ attacker, client, receivers }: AttackFixture, upload: Buffer) =>
  Effect.gen(function* () {
    const [port = 0] = yield* Effect.promise(() => receivers.open(1))
    const tenant = yield* Effect.promise(attacker.createTenant)
    const { id: webhook } = yield* Effect.promise(() => createWebhook(attacker, tenant, port))
    const created = { tenant, webhook, email: "", asset: "", subscriptions: [], largeCreditNote: "" }
    const pools: Pools = makePools(created)
    yield* Effect.promise(() => applySettings(client, { tenant, webhook, parties: seededParties }))
    yield* insertRows(client, tenant, pools)

    const asset = yield* step("an image", () => createReadyAsset(attacker, tenant, upload))
    const withAsset: Pools = makePools({ ...created, asset })
    yield* step("images", async () => {
      await insertUploadedAssets(client, withAsset)
      await attachImages(attacker, tenant, withAsset)
    })
    const largeCreditNote = yield* step("issued documents", () => finalizeDocuments(attacker, tenant, pools))
    const subscriptions = yield* step("subscriptions", () => subscribe(attacker, tenant, webhook, pools))
    const email = yield* Effect.promise(() => createEmailIntegration(attacker, tenant))
    return { tenant, pools: makePools({ ...created, asset, largeCreditNote, subscriptions, email }) }
  })
