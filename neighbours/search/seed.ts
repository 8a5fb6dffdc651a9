import { Effect } from "effect"
import type pg from "pg"
import sharp from "sharp"
import { insertCreditNotes } from "../../bench/creditNoteSeed.ts"
import { seededParties } from "../../bench/invoiceSeed.ts"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { repeat } from "../attacker.ts"
import type { AttackFixture } from "../row.ts"
import { createWebhook } from "../rows/integrations.ts"
import { type CreatedIds, makePools, makeSlot, type Pools, slotCount } from "./pools.ts"
import {
  makeBaseStatements,
  makeHistoryStatements,
  makeIntegrationStatements,
  makeInvoiceStatements,
  makeSettlementStatements
} from "./seedStatements.ts"

/** How many settings of subscriptions, which stay below the quota. */
const subscriptionCount = 200

const listIds = (pools: Pools, name: string) => {
  const pool = pools[name]
  return Array.from({ length: pool?.size ?? 0 }, (_, n) => pool?.getId(n) ?? "")
}

/** An image with as many pixels as the service decodes, and hardly any bytes. */
export const makeUpload = () =>
  sharp({ create: { width: 8000, height: 5000, channels: 3, background: "white" } })
    .png()
    .toBuffer()

const withoutTriggers = async (client: pg.Client, statements: ReadonlyArray<string>) => {
  await client.query("begin")
  await client.query("set local session_replication_role = replica")
  for (const statement of statements) await client.query(statement)
  await client.query("commit")
}

const runAll = async (client: pg.Client, statements: ReadonlyArray<string>) => {
  for (const statement of statements) await client.query(statement)
}

const createReadyAsset = async ({ attacker }: AttackFixture, tenant: string, upload: Buffer) => {
  const body = { kind: "BRANDING_LOGO", contentType: "image/png" }
  const { text } = await attacker.callUntilAccepted("POST", "/assets", { tenant, body })
  const { data } = JSON.parse(text) as { readonly data: { readonly assetId: string } } // the body of the 201
  await attacker.callUntilAccepted("PUT", `/assets/${data.assetId}/content`, { tenant, body: upload })
  await attacker.callUntilAccepted("POST", `/assets/${data.assetId}/complete`, { tenant })
  return data.assetId
}

/** Assets that have the bytes of another one, and still need their verification. */
const insertUploadedAssets = (client: pg.Client, pools: Pools) =>
  client.query(
    `insert into assets (tenant_id, id, kind, access, source, status, content_type, digest, created_at, updated_at, sequence)
     select tenant_id, uploaded, kind, access, source, 'PENDING', content_type, digest, now(), now(), 1
     from assets, unnest($1::text[]) uploaded where id = $2`,
    [listIds(pools, "uploadedAsset"), pools["asset"]?.getId(0)]
  )

/** Drafts of credit notes, of which the first ones are of paid invoices. */
const insertCredits = async (client: pg.Client, tenant: string, pools: Pools) => {
  const creditNotes = [...listIds(pools, "issuedCreditNote"), ...listIds(pools, "creditNote")]
  const invoices = creditNotes.map((id) => id.replace("crn_credit", "inv_issued")).map(shiftBy(8000))
  await insertCreditNotes(client, { id: tenant, creditNotes, invoices })
}

const shiftBy = (offset: number) => (id: string) =>
  id.replace(/\d+$/, (digits) => String(Number(digits) + offset).padStart(digits.length, "0"))

/** What only the service creates, because it encrypts secrets and numbers documents. */
const finalizeAll = async ({ attacker }: AttackFixture, tenant: string, pools: Pools) => {
  for (const invoice of listIds(pools, "largeIssued"))
    await attacker.create(`/invoices/${invoice}/finalize`, { tenant })
  const notes = listIds(pools, "issuedCreditNote")
  await repeat({ concurrency: 8, total: notes.length }, (n) =>
    attacker.create(`/credit-notes/${notes[n]}/finalize`, { tenant })
  )
  const body = { invoiceId: pools["largeIssued"]?.getId(0), reason: "Not delivered", full: true }
  const creditNote = await attacker.create("/credit-notes", { tenant, body })
  return attacker.create(`/credit-notes/${creditNote}/finalize`, { tenant })
}

const attachImages = async ({ attacker }: AttackFixture, tenant: string, pools: Pools) => {
  const body = { assetId: pools["asset"]?.getId(0) }
  const owners = [`/tenants/${tenant}`, `/clients/${pools["largeClient"]?.getId(0)}`]
  for (const owner of owners) {
    await repeat({ concurrency: 8, total: slotCount }, (n) =>
      attacker.callUntilAccepted("PUT", `${owner}/media/${makeSlot(n)}`, { tenant, body })
    )
  }
}

const subscribe = async ({ attacker }: AttackFixture, tenant: string, webhook: string, pools: Pools) => {
  const ids: Array<string> = []
  await repeat({ concurrency: 8, total: subscriptionCount }, async (n) => {
    const body = { eventType: "client.updated", clientId: pools["client"]?.getId(n) }
    ids.push(await attacker.create(`/integrations/${webhook}/subscriptions`, { tenant, body }))
  })
  return ids
}

const createEmailIntegration = ({ attacker }: AttackFixture, tenant: string) => {
  const config = { host: "127.0.0.1", port: 9, security: "STARTTLS", from: "books@example.com" }
  return attacker.create("/integrations", { tenant, body: { provider: "EMAIL", name: "Mail", config } })
}

/** Seeds the tenant of the attacker, and returns its resources. */
export const seedNeighbour = (fixture: AttackFixture, upload: Buffer) => {
  const { attacker, client, receivers } = fixture
  const step = <A>(label: string, work: () => Promise<A>) =>
    withProgress(`Adding ${label}`, Effect.promise(work), () => `Added ${label}`)

  return Effect.gen(function* () {
    const tenant = yield* Effect.promise(attacker.createTenant)
    const [port = 0] = yield* Effect.promise(() => receivers.open(1))
    const { id: webhook } = yield* Effect.promise(() => createWebhook(attacker, tenant, port))
    const created: CreatedIds = { tenant, webhook, email: "", asset: "", subscriptions: [], largeCreditNote: "" }
    const pools: Pools = makePools(created)
    yield* Effect.promise(() =>
      client.query(
        "select set_config('seed.tenant', $1, false), set_config('seed.webhook', $2, false), set_config('seed.parties', $3, false)",
        [tenant, webhook, seededParties]
      )
    )
    const invoices = makeInvoiceStatements(pools)
    yield* step("clients, contracts and projects", () => withoutTriggers(client, makeBaseStatements(pools)))
    yield* step("integrations with their issues and webhooks", () =>
      withoutTriggers(client, makeIntegrationStatements(pools))
    )
    yield* step("events and deliveries", () => withoutTriggers(client, makeHistoryStatements(pools)))
    yield* step("invoices", () => runAll(client, [...invoices.drafts, ...invoices.issued]))
    yield* step("statistics", () => client.query("analyze"))
    yield* step("payments and the journal", () => runAll(client, makeSettlementStatements(pools)))
    yield* step("credit notes", () => insertCredits(client, tenant, pools))
    yield* step("statistics of all", () => client.query("vacuum analyze"))
    const asset = yield* step("an image", () => createReadyAsset(fixture, tenant, upload))
    const withAsset = makePools({ ...created, asset })
    yield* step("unverified images", () => insertUploadedAssets(client, withAsset))
    yield* step("attached images", () => attachImages(fixture, tenant, withAsset))
    const largeCreditNote = yield* step("large documents", () => finalizeAll(fixture, tenant, pools))
    const subscriptions = yield* step("subscriptions", () => subscribe(fixture, tenant, webhook, pools))
    const email = yield* Effect.promise(() => createEmailIntegration(fixture, tenant))
    return { tenant, pools: makePools({ ...created, asset, largeCreditNote, subscriptions, email }) }
  })
}
