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

/** How many of the large drafts are finalized before the search. */
export const largeIssuedCount = 4

export const slotCount = 200
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
  draft: makeRange("inv", "draft", 8000),
  largeIssued: makeRange("inv", "large", largeIssuedCount),
  largeDraft: makeRange("inv", "large", 24, largeIssuedCount),
  /** These are of the large contract. */
  issued: makeRange("inv", "issued", 8000),
  paid: makeRange("inv", "issued", 6000, 14_000),
  /** Lines of the drafts. */
  billable: makeRange("bil", "draft", 16_000),
  issue: { ...makeRange("iss", "issue", 40_000), within: atJira },
  inbound: { ...makeRange("whk", "inbound", 30_000), within: atJira },
  payment: makeRange("pay", "open", 6000),
  allocatedPayment: makeRange("pay", "issued", 6000, 14_000),
  creditNote: makeRange("crn", "credit", 5800, 200),
  issuedCreditNote: makeRange("crn", "credit", 200),
  largeCreditNote: makeSingle(created.largeCreditNote),
  taxRate: makeRange("tax", "rate", 150),
  asset: makeSingle(created.asset),
  /** With the bytes of an image that is not verified. */
  uploadedAsset: makeRange("ast", "uploaded", 4000),
  pendingAsset: makeRange("ast", "pending", 4000),
  webhook: makeSingle(created.webhook),
  jira: makeRange("int", "jira", 1),
  emailIntegration: makeSingle(created.email),
  spareIntegration: makeRange("int", "spare", 3000),
  pausedIntegration: makeRange("int", "paused", 3000),
  subscription: { ...makeList(created.subscriptions), within: atWebhook },
  event: makeRange("evt", "old", 100_000),
  delivery: { ...makeRange("dlv", "old", 100_000), within: atWebhook },
  slot: { ...makeWords(slotCount, makeSlot), within: { clientId: "largeClient", tenantId: "tenant" } },
  endpointKey: makeWords(1, () => endpointKey),
  issueProject: makeWords(2000, (n) => `P${n % 2000}`)
})

export type Pools = Readonly<Record<string, Pool>>

/** The pools of path parameters that no prefix of an identifier tells. */
export const poolsByParameter: Readonly<Record<string, string>> = { slot: "slot", endpointKey: "endpointKey" }

/** A place in a request where the next identifier of a pool goes. */
export const placeholder = (pool: string) => `{{${pool}}}`

/** A place in a request where its number goes, which makes it unique. */
export const numberPlaceholder = placeholder("n")
