import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { maxInvoiceLines } from "../invoicing/Invoice.ts"
import { field, integer, oneOf, optional } from "../Schemas.ts"

/** A quota counts per scope. An owner is a tenant or a client that images are attached to. */
const scopes = ["tenant", "caller", "integration", "owner", "invoice"] as const

export interface Quota {
  /** The environment variable with the maximum. */
  readonly setting: `MAX_${string}`
  readonly default: number
  /** The highest maximum an operator can configure. */
  readonly highest: number
  readonly scope: (typeof scopes)[number]
  /** The counted things in the plural, with their scope. Messages put a number in front of it. */
  readonly counts: string
  /** How the caller makes room in a full quota. */
  readonly remedy: string
}

const million = 1_000_000

/** All quotas. Settings, `GET /limits` and the messages of rejected requests derive from this table. */
export const quotas = {
  tenants: {
    setting: "MAX_TENANTS",
    default: 1000,
    highest: million,
    scope: "caller",
    counts: "tenants that one caller is an OWNER of",
    remedy: "delete or leave one"
  },
  members: {
    setting: "MAX_MEMBERS",
    default: 1000,
    highest: million,
    scope: "tenant",
    counts: "members per tenant",
    remedy: "remove one"
  },
  integrations: {
    setting: "MAX_INTEGRATIONS",
    default: 100,
    highest: million,
    scope: "tenant",
    counts: "integrations per tenant",
    remedy: "delete one"
  },
  subscriptions: {
    setting: "MAX_SUBSCRIPTIONS",
    default: 50,
    highest: 1000,
    scope: "integration",
    counts: "subscriptions per integration",
    remedy: "delete one, or subscribe to all events of a resource with <resource>.*"
  },
  secrets: {
    setting: "MAX_SECRETS",
    default: 10,
    highest: 50,
    scope: "integration",
    counts: "signing secrets or webhook addresses per integration, replaced ones included until they expire",
    remedy: "rotate with overlapHours 0, wait until one expires"
  },
  pendingAuthorizations: {
    setting: "MAX_PENDING_AUTHORIZATIONS",
    default: 20,
    highest: 1000,
    scope: "integration",
    counts: "OAuth authorizations per integration that are begun and not completed",
    remedy: "complete one, wait ten minutes until one expires"
  },
  assets: {
    setting: "MAX_ASSETS",
    default: 10_000,
    highest: million,
    scope: "tenant",
    counts: "assets per tenant",
    remedy: "delete one"
  },
  assetBytes: {
    setting: "MAX_ASSET_BYTES",
    default: 1024 ** 3,
    highest: Number.MAX_SAFE_INTEGER,
    scope: "tenant",
    counts: "bytes of images per tenant, those on issued invoices included",
    remedy: "delete assets"
  },
  mediaSlots: {
    setting: "MAX_MEDIA_SLOTS",
    default: 20,
    highest: 1000,
    scope: "owner",
    counts: "media slots per tenant and per client",
    remedy: "detach an image, reuse a slot"
  },
  taxRates: {
    setting: "MAX_TAX_RATES",
    default: 200,
    highest: 10_000,
    scope: "tenant",
    counts: "tax rates per tenant, archived ones included",
    remedy: "use an existing one"
  },
  tenantMails: {
    setting: "MAX_TENANT_MAILS",
    default: 500,
    highest: million,
    scope: "tenant",
    counts: "mails a day per tenant through the mail server of the operator",
    remedy: "wait, use a mail server of your own"
  },
  callerMails: {
    setting: "MAX_CALLER_MAILS",
    default: 200,
    highest: million,
    scope: "caller",
    counts: "mails a day per caller through the mail server of the operator",
    remedy: "wait, use a mail server of your own"
  },
  invoiceLines: {
    setting: "MAX_INVOICE_LINES",
    default: 10_000,
    highest: maxInvoiceLines,
    scope: "invoice",
    counts: "lines per invoice",
    remedy: "put the lines on several invoices"
  }
} as const satisfies Readonly<Record<string, Quota>>

export type QuotaName = keyof typeof quotas

export const quotaNames = Object.keys(quotas) as ReadonlyArray<QuotaName> // Object.keys widens the keys to string

export const describeQuota = (name: QuotaName) => `maximum number of ${quotas[name].counts}`

const Amount = integer(0, Number.MAX_SAFE_INTEGER)

/** An item of `GET /limits`: a quota or a rate limit. */
export const Limit = Schema.Struct({
  name: field(
    Schema.String,
    "Name of the limit. The message of a request that exceeds it contains the name.",
    "members"
  ),
  description: field(Schema.String, "What is counted.", describeQuota("members")),
  scope: field(
    oneOf(...scopes),
    "What the limit applies to: each tenant, caller, integration or invoice, or each owner of images.",
    quotas.members.scope
  ),
  max: field(Amount, "The maximum. The operator of the service can raise it.", quotas.members.default),
  used: optional(
    field(Amount, "How much of it the tenant or the caller of the request uses. Left out for other scopes.", 3)
  )
}).annotations({ identifier: "Limit", description: "A maximum that a tenant or a caller cannot exceed." })
export type Limit = typeof Limit.Type

export const toLimit = (name: QuotaName, max: number, used: number | undefined): Limit => ({
  name,
  description: describeQuota(name),
  scope: quotas[name].scope,
  max,
  ...(used === undefined ? {} : { used })
})

/** Rate limits. `GET /limits` lists those that are configured. */
const rates = {
  callerRequests: { setting: "RATE_LIMIT_PER_CALLER", scope: "caller" },
  tenantRequests: { setting: "RATE_LIMIT_PER_TENANT", scope: "tenant" }
} as const

type RateSettings = { readonly [Name in (typeof rates)[keyof typeof rates]["setting"]]?: number }

export const rateLimits = (settings: RateSettings): ReadonlyArray<Limit> =>
  Object.entries(rates).flatMap(([name, { scope, setting }]) => {
    const max = settings[setting]
    const description = `maximum number of requests a minute per ${scope}, at each api process`
    return max === undefined ? [] : [{ name, description, scope, max }]
  })

interface Addition {
  readonly max: number
  /** The current count. The count may stop at `max`. */
  readonly used: number
  readonly adding?: number
  /** The request field that the error names. */
  readonly field: string
}

/**
 * Fails when an addition exceeds a quota. A request that adds nothing passes, so a tenant above a lowered maximum can
 * still change and delete what it has.
 */
export const requireQuota = (
  name: QuotaName,
  { adding = 1, field, max, used }: Addition
): Either.Either<void, ValidationError> => {
  if (adding <= 0 || used + adding <= max) return Either.void
  const { counts, remedy, setting } = quotas[name]
  const message = `exceeds the quota ${name} of ${max} ${counts}: ${remedy}, or ask the operator to raise ${setting}`
  return Either.left(fieldError(field, "quota", message))
}
