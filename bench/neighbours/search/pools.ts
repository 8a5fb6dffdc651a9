import { quotas } from "../../../src/domain/quotas/Quotas.ts"

/** Identifiers of seeded resources, which requests use in turn. */
export interface Pool {
  readonly prefix: string
  readonly size: number
  readonly getId: (n: number) => string
  /** Pools of the other path parameters: the parents of these resources. */
  readonly within?: Readonly<Record<string, string>>
}

/** Identifiers that only the service can give. */
export interface CreatedIds {
  readonly tenant: string
  readonly webhook: string
  readonly email: string
  readonly asset: string
  readonly subscriptions: ReadonlyArray<string>
  readonly largeCreditNote: string
}

const getPrefix = (id: string) => id.split("_", 1)[0] ?? ""

/** The length of the number in a seeded identifier. */
export const numberLength = 8

const makeRange = (prefix: string, label: string, size: number, from = 0): Pool => ({
  prefix,
  size,
  getId: (n) => `${prefix}_${label}${String(from + (n % size)).padStart(numberLength, "0")}`
})

const makeList = (ids: ReadonlyArray<string>): Pool => ({
  prefix: getPrefix(ids[0] ?? ""),
  size: ids.length,
  getId: (n) => ids[n % ids.length] ?? ""
})

const makeSingle = (id: string) => makeList([id])

/** Words that are no identifiers of resources. */
const makeWords = (size: number, getId: Pool["getId"]): Pool => ({ prefix: "", size, getId })

const atWebhook = { integrationId: "webhook" }
const atJira = { integrationId: "jira" }

/** The issued invoices by number: those that are open, have a write-off or a draft of a credit note, or are paid. */
export const issuedInvoices = {
  open: { from: 0, size: 7000 },
  writtenOff: { from: 7000, size: 1000 },
  credited: { from: 8000, size: 6000 },
  /** As many of the credited ones are paid too, and their credit notes are finalized. */
  paidAndCredited: 200,
  paid: { from: 14_000, size: 6000 }
} as const

const makeIssuedRange = (prefix: string, part: "open" | "writtenOff" | "paid") =>
  makeRange(prefix, "issued", issuedInvoices[part].size, issuedInvoices[part].from)

/** Drafts, and how many of them requests use only by their lines. */
export const draftCount = 8000
const billedDrafts = 2000
export const draftLines = 2

/** How many of the large drafts are finalized before the search. */
export const largeIssuedCount = 16

/** As many as a client can have by default. */
export const slotCount = quotas.mediaSlots.default
export const makeSlot = (n: number) => `slot${n % slotCount}`

/** The key in the address of the webhooks of the Jira integration. */
export const endpointKey = "k".repeat(43)

/**
 * The resources of the neighbour. Of those with the same prefix, the first is the one that bodies and queries name.
 */
export const makePools = (created: CreatedIds) => ({
  tenant: makeSingle(created.tenant),
  spareTenant: makeRange("tnt", "spare", 1500),
  member: makeRange("mem", "member", 900),
  largeClient: makeRange("clnt", "large", 1),
  client: makeRange("clnt", "client", 15_000),
  /** Nothing refers to these. */
  spareClient: makeRange("clnt", "spare", 10_000),
  address: makeRange("adr", "address", 15_000),
  contact: makeRange("con", "contact", 15_000),
  spareContact: makeRange("con", "spare", 5000),
  email: makeRange("eml", "email", 15_000),
  largeContract: makeRange("ctr", "large", 1),
  contract: makeRange("ctr", "contract", 15_000),
  spareContract: makeRange("ctr", "spare", 5000),
  project: makeRange("prj", "project", 30_000),
  draft: makeRange("inv", "draft", draftCount - billedDrafts),
  largeIssued: makeRange("inv", "large", largeIssuedCount),
  largeDraft: makeRange("inv", "large", 32, largeIssuedCount),
  /** These are of the large contract. */
  issued: makeIssuedRange("inv", "open"),
  writtenOff: makeIssuedRange("inv", "writtenOff"),
  paid: makeIssuedRange("inv", "paid"),
  /** Lines of further drafts, which no request deletes. */
  billable: makeRange("bil", "draft", billedDrafts * draftLines, (draftCount - billedDrafts) * draftLines),
  issue: { ...makeRange("iss", "issue", 40_000), within: atJira },
  inbound: { ...makeRange("whk", "inbound", 30_000), within: atJira },
  payment: makeRange("pay", "open", 6000),
  allocatedPayment: makeIssuedRange("pay", "paid"),
  issuedCreditNote: makeRange("crn", "credit", issuedInvoices.paidAndCredited),
  creditNote: makeRange(
    "crn",
    "credit",
    issuedInvoices.credited.size - issuedInvoices.paidAndCredited,
    issuedInvoices.paidAndCredited
  ),
  largeCreditNote: makeSingle(created.largeCreditNote),
  taxRate: makeRange("tax", "rate", 150),
  /** No default of anything. */
  spareTaxRate: makeRange("tax", "spare", 1000),
  asset: makeSingle(created.asset),
  /** With the bytes of an image that is not verified. */
  uploadedAsset: makeRange("ast", "uploaded", 4000),
  pendingAsset: makeRange("ast", "pending", 4000),
  webhook: makeSingle(created.webhook),
  jira: makeRange("int", "jira", 1),
  emailIntegration: makeSingle(created.email),
  spareIntegration: makeRange("int", "spare", 3000),
  pausedIntegration: makeRange("int", "paused", 3000),
  /** Of a provider that was not asked for its consent. */
  pendingIntegration: makeRange("int", "pending", 3000),
  subscription: { ...makeList(created.subscriptions), within: atWebhook },
  event: makeRange("evt", "old", 100_000),
  delivery: { ...makeRange("dlv", "old", 100_000), within: atWebhook },
  slot: { ...makeWords(slotCount, makeSlot), within: { clientId: "largeClient", tenantId: "tenant" } },
  endpointKey: makeWords(1, () => endpointKey),
  issueProject: makeWords(2000, (n) => `P${n % 2000}`)
})

export type Pools = Readonly<Record<string, Pool>>

/** All identifiers of a pool. */
export const listIds = (pools: Pools, name: string) => {
  const pool = pools[name]
  return Array.from({ length: pool?.size ?? 0 }, (_, n) => pool?.getId(n) ?? "")
}

/** The pools of path parameters that no prefix of an identifier tells. */
export const poolsByParameter: Readonly<Record<string, string>> = { slot: "slot", endpointKey: "endpointKey" }

/** A place in a request where the next identifier of a pool goes. */
export const placeholder = (pool: string) => `{{${pool}}}`

/** A place in a request where its number goes, which makes it unique. */
export const numberPlaceholder = placeholder("n")
