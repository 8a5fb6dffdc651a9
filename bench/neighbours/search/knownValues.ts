import { numberPlaceholder, placeholder } from "./pools.ts"

/** What the OpenAPI document cannot tell, by the name of a query parameter: terms that the neighbour has often and rarely. */
export const queryValues: Readonly<Record<string, ReadonlyArray<string>>> = {
  q: ["no", "zq", "nor", "nordwind", "000", "zzq", "nordwind ".repeat(11)],
  number: ["INV-2026-000042", "CN-2026-000001"],
  referenceType: ["timesheet"],
  externalId: ["unknown"],
  projectKey: ["P1"],
  key: ["P1-1"],
  state: ["To Do"],
  eventType: ["client.*"],
  type: ["client.created", "client.*", "invoice.*"],
  asOf: ["2016-01-01", "2026-01-01", "2099-12-31"]
}

/** Both ends of a period by the names of its parameters. */
export const periodNames = [
  ["from", "to"],
  ["issuedFrom", "issuedTo"],
  ["since", "until"]
] as const

/** From the widest to a narrow one: reports limit their length. */
export const periods = [
  ["0001-01-01", "9999-12-31"],
  ["2016-01-01", "2025-12-31"],
  ["2025-01-01", "2025-12-31"]
] as const

/** Values of properties of bodies whose largest legal value no schema tells. */
export const propertyValues: Readonly<Record<string, unknown>> = {
  currencyCode: "CHF",
  amountMinor: 1,
  capMinor: Number.MAX_SAFE_INTEGER,
  electronicAddress: { scheme: "0204", value: "991-12345-67" },
  vatNumber: "CHE-123.456.789 MWST",
  language: "de",
  subject: `subject ${numberPlaceholder}`,
  externalId: `transfer ${numberPlaceholder}`,
  referenceId: `day ${numberPlaceholder}`,
  referenceType: "timesheet",
  url: "http://127.0.0.1:9/hook"
}

const webhookConfig = { config: { url: "http://127.0.0.1:9/hook" }, password: undefined }
const mail = { integrationId: placeholder("emailIntegration") }
const issuedInvoice = { invoiceId: placeholder("issued") }

/** Fields of bodies that depend on each other or on the state of what they name. Undefined ones are left out. */
export const bodyFields: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "POST /integrations": webhookConfig,
  "PATCH /integrations/{integrationId}": webhookConfig,
  "POST /integrations/{integrationId}/redeliver": {
    since: "2020-01-01T00:00:00.000Z",
    until: undefined,
    status: undefined
  },
  "POST /integrations/{integrationId}/subscriptions": { clientId: placeholder("client") },
  "PATCH /tax-rates/{taxRateId}": { exemptionReason: undefined, exemptionCode: undefined },
  "PATCH /invoice-series": { next: undefined },
  "PATCH /credit-note-series": { next: undefined },
  "PATCH /contracts/{contractId}": { currencyCode: undefined },
  "POST /invoices/{invoiceId}/send": mail,
  "POST /credit-notes/{creditNoteId}/send": mail,
  "POST /invoices/{invoiceId}/billables/from-issues": {
    integrationId: placeholder("jira"),
    issueKeys: undefined,
    filter: { projectKey: placeholder("issueProject") }
  },
  "POST /payments": {
    amountMinor: 100,
    allocations: Array.from({ length: 100 }, () => ({ ...issuedInvoice, amountMinor: 1 }))
  },
  "POST /payments/{paymentId}/allocate": issuedInvoice,
  "POST /credit-notes/{creditNoteId}/allocate": issuedInvoice,
  "POST /credit-notes": { ...issuedInvoice, lines: undefined, full: true },
  "PATCH /credit-notes/{creditNoteId}": { lines: undefined, full: true }
}

const mebibyte = 1024 * 1024

/** The largest bodies that the service reads, except of uploads. */
export const defaultMaxBodyBytes = mebibyte
export const maxBodyBytes: Readonly<Record<string, number>> = { "POST /billables": 4 * mebibyte }

/** Operations that refuse all of the neighbour's requests, with the status: the consent of a provider is missing. */
export const refusals: Readonly<Record<string, number>> = { "POST /integrations/{integrationId}/confirm": 400 }

/**
 * Operations that a resource refuses after others, with the status: while as many as it can have are in progress, or once
 * it was sent, credited or voided.
 */
export const laterRefusals: Readonly<Record<string, number>> = {
  "POST /integrations/{integrationId}/redeliver": 400,
  "POST /invoices/{invoiceId}/void": 400
}

/** Operations besides deletions that one resource allows a few times only. */
export const limitedPerResource: ReadonlySet<string> = new Set([
  "POST /integrations/{integrationId}/pause",
  "POST /integrations/{integrationId}/resume",
  "POST /integrations/{integrationId}/rotate-secret",
  "POST /integrations/{integrationId}/authorize",
  "POST /integrations/{integrationId}/subscriptions"
])
