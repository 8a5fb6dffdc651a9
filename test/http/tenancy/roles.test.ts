import { assert, describe, it } from "vitest"
import { operationsOf } from "../../support/assertions/operations.ts"
import { assetClient, minimalAsset } from "../../support/fixtures/assets.ts"
import { insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { png } from "../../support/fixtures/images.ts"
import { invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { insertIssues } from "../../support/fixtures/issueRows.ts"
import { mailConfig } from "../../support/fixtures/mails.ts"
import {
  kindsInTenants,
  parents,
  type ResourceKind,
  resourceMaker,
  singularOf
} from "../../support/fixtures/resources.ts"
import { commonRates, taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const callers = ["VIEWER", "MEMBER", "ADMIN", "OWNER", "non-member"] as const

type Table = Readonly<Record<string, readonly [number, number, number, number, number]>>

const kindOf = (row: string) => kindsInTenants.find((kind) => row.includes(` /${kind}`))

/** The status that an invoice needs for a row. */
const statusIn = (row: string) => (/\/(pay|void|write-off|reverse|send|link|rotate)$/.test(row) ? "FINALIZED" : "DRAFT")

const memberRows = (kind: string, parameter: string): Table => ({
  [`GET /${kind}`]: [200, 200, 200, 200, 403],
  [`POST /${kind}`]: [403, 201, 201, 201, 403],
  [`GET /${kind}/{${parameter}}`]: [200, 200, 200, 200, 403],
  [`PATCH /${kind}/{${parameter}}`]: [403, 200, 200, 200, 403],
  [`DELETE /${kind}/{${parameter}}`]: [403, 204, 204, 204, 403]
})

/** Expected statuses in the order of `callers`. */
const table: Table = {
  "GET /tenants": [200, 200, 200, 200, 200],
  "POST /tenants": [201, 201, 201, 201, 201],
  "GET /tenants/{tenantId}": [200, 200, 200, 200, 404],
  "PATCH /tenants/{tenantId}": [403, 403, 200, 200, 404],
  "DELETE /tenants/{tenantId}": [404, 404, 404, 204, 404],
  "GET /tenants/{tenantId}/export": [403, 403, 403, 200, 404],

  "GET /members": [200, 200, 200, 200, 403],
  "POST /members": [403, 403, 201, 201, 403],
  "POST /members an OWNER": [403, 403, 403, 201, 403],
  "GET /me": [200, 200, 200, 200, 403],
  "GET /members/{memberId}": [200, 200, 200, 200, 403],
  "PATCH /members/{memberId}": [403, 403, 200, 200, 403],
  "PATCH /members/{memberId} to OWNER": [403, 403, 403, 200, 403],
  "PATCH /members/{memberId} an OWNER": [403, 403, 403, 200, 403],
  "PATCH /members/{memberId} themselves": [403, 403, 200, 200, 403],
  "DELETE /members/{memberId}": [403, 403, 204, 204, 403],
  "DELETE /members/{memberId} an OWNER": [403, 403, 403, 204, 403],
  "DELETE /members/{memberId} themselves": [204, 204, 204, 204, 403],

  "GET /limits": [200, 200, 200, 200, 403],

  ...Object.assign({}, ...kindsInTenants.map((kind) => memberRows(kind, `${singularOf(kind)}Id`))),
  "GET /projects/{projectId}": [200, 200, 200, 200, 404],

  ...memberRows("invoices", "invoiceId"),
  ...memberRows("billables", "billableId"),
  "GET /invoices/{invoiceId}/explain": [200, 200, 200, 200, 403],
  "GET /invoices/{invoiceId}/e-invoice-check": [200, 200, 200, 200, 403],
  "GET /invoices/{invoiceId}/xml": [400, 400, 400, 400, 403],
  "GET /invoices/{invoiceId}/pdf": [200, 200, 200, 200, 403],
  "GET /invoices/{invoiceId}/deliveries": [200, 200, 200, 200, 403],
  "POST /invoices/{invoiceId}/send": [403, 403, 202, 202, 403],
  "GET /invoices/{invoiceId}/link": [403, 200, 200, 200, 403],
  "POST /invoices/{invoiceId}/link/rotate": [403, 403, 200, 200, 403],
  "DELETE /invoices/{invoiceId}/link": [403, 403, 204, 204, 403],
  "POST /invoices/{invoiceId}/finalize": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/pay": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/void": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/write-off": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/write-off/reverse": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/billables/from-issues": [403, 201, 201, 201, 403],
  "GET /payments": [200, 200, 200, 200, 403],
  "POST /payments": [403, 403, 201, 201, 403],
  "GET /payments/{paymentId}": [200, 200, 200, 200, 403],
  "POST /payments/{paymentId}/allocate": [403, 403, 200, 200, 403],
  "POST /payments/{paymentId}/refund": [403, 403, 200, 200, 403],
  "POST /payments/{paymentId}/reverse": [403, 403, 200, 200, 403],
  "GET /credit-notes": [200, 200, 200, 200, 403],
  "POST /credit-notes": [403, 201, 201, 201, 403],
  "GET /credit-notes/{creditNoteId}": [200, 200, 200, 200, 403],
  "PATCH /credit-notes/{creditNoteId}": [403, 200, 200, 200, 403],
  "DELETE /credit-notes/{creditNoteId}": [403, 204, 204, 204, 403],
  "GET /credit-notes/{creditNoteId}/deliveries": [200, 200, 200, 200, 403],
  "POST /credit-notes/{creditNoteId}/send": [403, 403, 202, 202, 403],
  "POST /credit-notes/{creditNoteId}/finalize": [403, 403, 200, 200, 403],
  "POST /credit-notes/{creditNoteId}/allocate": [403, 403, 200, 200, 403],
  "POST /credit-notes/{creditNoteId}/refund": [403, 403, 200, 200, 403],
  "GET /credit-notes/{creditNoteId}/explain": [200, 200, 200, 200, 403],
  "GET /credit-notes/{creditNoteId}/e-invoice-check": [200, 200, 200, 200, 403],
  "GET /credit-notes/{creditNoteId}/xml": [400, 400, 400, 400, 403],
  "GET /credit-notes/{creditNoteId}/pdf": [200, 200, 200, 200, 403],
  "GET /credit-note-series": [200, 200, 200, 200, 403],
  "PATCH /credit-note-series": [403, 403, 200, 200, 403],
  "GET /clients/{clientId}/balance": [200, 200, 200, 200, 403],
  "GET /contracts/{contractId}/billing": [200, 200, 200, 200, 403],
  "GET /clients/{clientId}/statement": [200, 200, 200, 200, 403],
  "GET /clients/{clientId}/statement/pdf": [200, 200, 200, 200, 403],
  "GET /reports/aging": [200, 200, 200, 200, 403],
  "GET /reports/aging/totals": [200, 200, 200, 200, 403],
  "GET /reports/revenue": [200, 200, 200, 200, 403],
  "GET /reports/revenue/clients": [200, 200, 200, 200, 403],
  "GET /reports/tax": [200, 200, 200, 200, 403],
  "GET /tax-rates": [200, 200, 200, 200, 403],
  "POST /tax-rates": [403, 403, 201, 201, 403],
  "GET /tax-rates/{taxRateId}": [200, 200, 200, 200, 403],
  "PATCH /tax-rates/{taxRateId}": [403, 403, 200, 200, 403],
  "POST /tax-rates/{taxRateId}/archive": [403, 403, 200, 200, 403],
  "GET /invoice-series": [200, 200, 200, 200, 403],
  "PATCH /invoice-series": [403, 403, 200, 200, 403],

  "GET /assets": [200, 200, 200, 200, 403],
  "POST /assets": [403, 201, 201, 201, 403],
  "GET /assets/{assetId}/record": [200, 200, 200, 200, 403],
  "PATCH /assets/{assetId}": [403, 200, 200, 200, 403],
  "PUT /assets/{assetId}/content": [403, 200, 200, 200, 403],
  "POST /assets/{assetId}/complete": [403, 200, 200, 200, 403],
  "DELETE /assets/{assetId}": [403, 204, 204, 204, 403],
  "GET /assets/{assetId}": [200, 200, 200, 200, 200],
  "PUT /clients/{clientId}/media/{slot}": [403, 200, 200, 200, 403],
  "DELETE /clients/{clientId}/media/{slot}": [403, 204, 204, 204, 403],
  "PUT /tenants/{tenantId}/media/{slot}": [403, 403, 200, 200, 404],
  "DELETE /tenants/{tenantId}/media/{slot}": [403, 403, 204, 204, 404]
}

const testedElsewhere = new Set(["integrations", "webhooks", "events"])

const bodies: Readonly<Record<string, object>> = {
  "POST /tenants": { name: "Another" },
  "PATCH /tenants/{tenantId}": { name: "Renamed" },
  "POST /assets": minimalAsset,
  "PATCH /assets/{assetId}": { originalFileName: "logo.png" },
  "PUT /assets/{assetId}/content": png(),
  "POST /members": { role: "ADMIN" },
  "POST /members an OWNER": { role: "OWNER" },
  "PATCH /members/{memberId}": { role: "ADMIN" },
  "PATCH /members/{memberId} to OWNER": { role: "OWNER" },
  "PATCH /members/{memberId} an OWNER": { role: "MEMBER" },
  "PATCH /members/{memberId} themselves": { role: "VIEWER" },
  "PATCH /invoices/{invoiceId}": { dueAt: "2031-01-31T00:00:00Z" },
  "PATCH /billables/{billableId}": { amountMinor: 1 },
  "POST /tax-rates": commonRates.standard,
  "PATCH /tax-rates/{taxRateId}": { order: 1 },
  "POST /invoices/{invoiceId}/send": { to: ["ada@client.example"] },
  "POST /credit-notes/{creditNoteId}/send": { to: ["ada@client.example"] },
  "POST /invoices/{invoiceId}/write-off": { reason: "Goodwill" },
  "POST /payments/{paymentId}/refund": { amountMinor: 1 },
  "POST /payments/{paymentId}/reverse": { reason: "Mistake" },
  "PATCH /credit-notes/{creditNoteId}": { reason: "Another" },
  "POST /credit-notes/{creditNoteId}/refund": { amountMinor: 1 },
  "PATCH /credit-note-series": { pattern: "{seq:4}" },
  "PATCH /invoice-series": { pattern: "{seq:4}" }
}

const methodOf = (row: string) => row.split(" ", 1)[0] ?? ""

/** Whether a row leaves its resource as it was, so that all callers can send it for the same one. */
const isRepeatable = (row: string) => ["GET", "PATCH"].includes(methodOf(row)) && !row.includes("{memberId}")

/** Whether a row changes the members or the tenant itself, so that it needs its own tenant. */
const needsOwnTenant = (row: string) => row.includes("/members") || row.startsWith("DELETE /tenants/{tenantId}")

/** The service, and the tokens of all callers, signed once. */
const start = async () => {
  const started = await startServiceWithPool({ PUBLIC_URL: "https://billing.example.test" })
  const names = ["founder", ...callers]
  const tokens = new Map<string, string>()
  for (const name of names) tokens.set(name, await started.service.token(name))
  return { ...started, tokenOf: (name: string) => tokens.get(name) ?? assert.fail(name) }
}

describe("The roles of a tenant", () => {
  const at = useFixture(start)

  /** A tenant of a founder with one member of each role, whose subject is the role. */
  const makeTenant = async () => {
    const { service, tokenOf } = at()
    const founder = tokenOf("founder")
    const tenant = await service.newTenant(founder)
    const addMember = async (subject: string, role: string) => {
      const { body, status, text } = await service.api("POST", "/members", {
        as: founder,
        tenant,
        body: { subject, role }
      })
      assert.strictEqual(status, 201, text)
      return String(body.data.id)
    }
    const members: Record<string, string> = {}
    for (const role of callers.slice(0, 4)) members[role] = await addMember(role, role)

    const { bodyOf, make } = resourceMaker(service, tenant, founder)
    const parentIds = new Map<ResourceKind, string>()
    const parentOf = async (kind: ResourceKind) => {
      const id = parentIds.get(kind) ?? (await make(kind, await referencesOf(kind))).id
      parentIds.set(kind, id)
      return id
    }
    /** The reference to the parent, which all resources of a kind share. */
    const referencesOf = async (kind: ResourceKind): Promise<object> => {
      const parent = parents[kind]
      return parent === undefined ? {} : { [parent.field]: await parentOf(parent.kind) }
    }
    const post = async (path: string, body: object) => {
      const { body: response, text } = await service.api("POST", path, { as: founder, tenant, body })
      return String(response.data?.id ?? assert.fail(text))
    }
    const newPayment = async () => ({ clientId: await parentOf("clients"), currencyCode: "EUR", amountMinor: 100 })
    const invoices = invoiceClient(service, tenant, founder)
    let contract: string | undefined
    let mailIntegration: string | undefined
    const contractId = async () => {
      contract ??= (await invoices.contract(await referencesOf("contracts"))).id
      return contract
    }
    const newCreditNote = async () => {
      const { id } = await invoices.invoiceIn("FINALIZED", { contractId: await contractId() })
      return { invoiceId: id, reason: "Mistake", full: true }
    }

    return {
      tenant,
      founder,
      members,
      addMember,
      make: async (kind: ResourceKind) => (await make(kind, await referencesOf(kind))).id,
      bodyOf: async (kind: ResourceKind) => bodyOf(kind, await referencesOf(kind)),
      contractId,
      draft: async () => (await invoices.draft({ contractId: await contractId() })).id,
      invoiceIn: async (status: "DRAFT" | "FINALIZED") =>
        invoices.invoiceIn(status, { contractId: await contractId() }),
      assets: assetClient(service, tenant, founder),
      taxRates: taxRateMaker(service, tenant, founder),
      newPayment,
      payment: async () => post("/payments", await newPayment()),
      newCreditNote,
      /** A draft on an open invoice, or a finalized note on a paid one. */
      creditNote: async (status: "DRAFT" | "FINALIZED") => {
        const content = await newCreditNote()
        if (status === "FINALIZED") await post(`/invoices/${content.invoiceId}/pay`, {})
        const id = await post("/credit-notes", content)
        return status === "DRAFT" ? id : post(`/credit-notes/${id}/finalize`, {})
      },
      mailIntegration: async () => {
        mailIntegration ??= await post("/integrations", { provider: "EMAIL", name: "Mail", config: mailConfig(9) })
        return mailIntegration
      },
      writeOff: (id: string) => post(`/invoices/${id}/write-off`, { reason: "Goodwill" })
    }
  }
  type Tenant = Awaited<ReturnType<typeof makeTenant>>

  let shared: Tenant | undefined
  const tenantFor = async (row: string) => {
    if (needsOwnTenant(row)) return makeTenant()
    shared ??= await makeTenant()
    return shared
  }

  /** The path of a row about an asset, with an asset in the status that the row needs. */
  const assetPath = async (row: string, path: string, { assets }: Tenant) => {
    const makers: Readonly<Record<string, () => Promise<{ readonly assetId: string }>>> = {
      "PUT /assets/{assetId}/content": () => assets.declare(),
      "POST /assets/{assetId}/complete": () => assets.upload(png())
    }
    const { assetId } = await (makers[row]?.() ?? assets.createReady())
    return path.replace("{assetId}", assetId)
  }

  /** The path of a row about media, with an image in the slot. */
  const mediaPath = async (path: string, { assets, founder, make, tenant }: Tenant) => {
    const client = path.includes("{clientId}") ? await make("clients") : ""
    const filled = path.replace("{tenantId}", tenant).replace("{clientId}", client).replace("{slot}", "logo")
    const { assetId } = await assets.createReady()
    const { status } = await at().service.api("PUT", filled, { as: founder, tenant, body: { assetId } })
    assert.strictEqual(status, 200)
    return filled
  }

  /** The path of a row about an integration, with a delivery to it. */
  const integrationPath = async (path: string, { tenant }: Tenant) => {
    const integration = await insertIntegration(at().pool, tenant)
    const delivery = await insertDelivery(at().pool, tenant, integration)
    return path.replace("{integrationId}", integration).replace("{deliveryId}", delivery)
  }

  /** The path of a row with a new resource, or with the member of the caller if the row says so. */
  const makePath = async (row: string, caller: string, tenant: Tenant) => {
    const [, path = "", ...about] = row.split(" ")
    if (path.endsWith("/send")) await tenant.mailIntegration()
    if (path.includes("{slot}")) return mediaPath(path, tenant)
    if (path.includes("{integrationId}")) return integrationPath(path, tenant)
    if (path.includes("{assetId}")) return assetPath(row, path, tenant)
    if (path.includes("{taxRateId}"))
      return path.replace("{taxRateId}", await tenant.taxRates.createCommonRate("standard"))
    if (path.includes("{creditNoteId}")) {
      const status = /(allocate|refund|send)$/.test(path) ? "FINALIZED" : "DRAFT"
      return path.replace("{creditNoteId}", await tenant.creditNote(status))
    }
    if (path.includes("{paymentId}")) return path.replace("{paymentId}", await tenant.payment())
    const kind = kindOf(row)
    if (path.endsWith("/balance")) return path.replace("{clientId}", await tenant.make("clients"))
    if (path.endsWith("/billing")) return path.replace("{contractId}", await tenant.make("contracts"))
    if (kind !== undefined && path.includes("{")) return `/${kind}/${await tenant.make(kind)}`
    if (/\{(invoice|billable)Id\}/.test(path)) {
      const { id, line } = await tenant.invoiceIn(statusIn(row))
      if (path.endsWith("/write-off/reverse")) await tenant.writeOff(id)
      return path.replace("{invoiceId}", id).replace("{billableId}", line)
    }
    if (!path.includes("{memberId}")) return path.replace("{tenantId}", tenant.tenant)
    const role = about.join(" ") === "an OWNER" ? "OWNER" : "VIEWER"
    const self = about.includes("themselves") ? tenant.members[caller] : undefined
    return path.replace("{memberId}", self ?? (await tenant.addMember(`for ${caller}`, role)))
  }

  const makeBody = async (row: string, caller: string, tenant: Tenant) => {
    const kind = kindOf(row)
    if (row.startsWith("PUT") && row.includes("{slot}")) {
      return { body: { assetId: (await tenant.assets.createReady()).assetId } }
    }
    if (row.startsWith("POST /members")) return { body: { ...bodies[row], subject: `added by ${caller}` } }
    if (row === "POST /invoices") return { body: { contractId: await tenant.contractId() } }
    if (row === "POST /payments") return { body: await tenant.newPayment() }
    if (row === "POST /credit-notes") return { body: await tenant.newCreditNote() }
    if (/^POST .*\/allocate$/.test(row)) {
      return { body: { invoiceId: (await tenant.invoiceIn("FINALIZED")).id, amountMinor: 1 } }
    }
    if (row === "POST /billables") return { body: { invoiceId: await tenant.draft(), billables: [lineOf()] } }
    if (row.endsWith("/from-issues")) {
      const integrationId = await insertIntegration(at().pool, tenant.tenant)
      await insertIssues(at().pool, tenant.tenant, integrationId, 1, caller)
      return { body: { integrationId, issueKeys: [`${caller}-0`], amountMinor: 100 } }
    }
    if (kind !== undefined && row.startsWith("POST")) return { body: await tenant.bodyOf(kind) }
    if (kind !== undefined && row.startsWith("PATCH")) return { body: { order: 1 } }
    return bodies[row] === undefined ? {} : { body: bodies[row] }
  }

  for (const [row, expected] of Object.entries(table)) {
    it(`decide who may ${row}`, async () => {
      const { service, tokenOf } = at()
      const tenant = await tenantFor(row)
      const path = isRepeatable(row) ? await makePath(row, "", tenant) : undefined
      for (const [index, caller] of callers.entries()) {
        const options = { as: tokenOf(caller), tenant: tenant.tenant, ...(await makeBody(row, caller, tenant)) }
        const { status } = await service.api(methodOf(row), path ?? (await makePath(row, caller, tenant)), options)
        assert.strictEqual(status, expected[index], `as ${caller}`)
      }
    })
  }

  it("are tested for every operation, here or in integrations/access.test.ts", () => {
    const operations = operationsOf(at().service.document)
      .map(({ name }) => name.replace("/api/v1", ""))
      .filter((name) => !testedElsewhere.has(/^\w+ \/([\w-]+)/.exec(name)?.[1] ?? ""))
    const tested = Object.keys(table).filter((row) => row.split(" ").length === 2)
    assert.sameMembers(operations, tested)
  })

  it("are checked before the body is parsed", async () => {
    const { tenant } = await tenantFor("POST /clients")
    for (const caller of ["VIEWER", "non-member"]) {
      const options = { as: at().tokenOf(caller), tenant, body: "{" }
      assert.strictEqual((await at().service.api("POST", "/clients", options)).status, 403)
    }
  })

  for (const [what, tenant] of Object.entries({ missing: undefined, malformed: "tnt_NO", empty: "" })) {
    it(`reject a ${what} tenant-id header with 400`, async () => {
      const response = await at().service.api("GET", "/clients", {
        as: "VIEWER",
        ...(tenant === undefined ? {} : { headers: { "tenant-id": tenant } })
      })
      assert.strictEqual(response.status, 400)
      assert.lengthOf(response.body.details, 1)
      assert.strictEqual(response.body.details[0].field, "tenant-id")
      assert.strictEqual(response.body.details[0].constraint, tenant === undefined ? "required" : "format")
    })
  }
})
