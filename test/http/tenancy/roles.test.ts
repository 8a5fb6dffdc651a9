import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operationsOf } from "../../support/assertions/operations.ts"
import { assetClient, minimalAsset } from "../../support/fixtures/assets.ts"
import { insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { png } from "../../support/fixtures/images.ts"
import { invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { insertIssues } from "../../support/fixtures/issueRows.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const callers = ["VIEWER", "MEMBER", "ADMIN", "OWNER", "outsider"] as const

type Table = Readonly<Record<string, readonly [number, number, number, number, number]>>

/** What VIEWERs read and MEMBERs write. */
const everyday = ["clients", "addresses", "contacts", "emails", "contracts", "projects"] as const
const everydayKindOf = (row: string) => everyday.find((kind) => row.includes(` /${kind}`))

/** The status an invoice is in for what a row does to it. */
const statusIn = (row: string) => (/\/(pay|void)$/.test(row) ? "FINALIZED" : "DRAFT")

const everydayRows = (kind: string, parameter: string): Table => ({
  [`GET /${kind}`]: [200, 200, 200, 200, 403],
  [`POST /${kind}`]: [403, 201, 201, 201, 403],
  [`GET /${kind}/{${parameter}}`]: [200, 200, 200, 200, 403],
  [`PATCH /${kind}/{${parameter}}`]: [403, 200, 200, 200, 403],
  [`DELETE /${kind}/{${parameter}}`]: [403, 204, 204, 204, 403]
})

/** Who gets which answer, in the order of `callers`. */
const table: Table = {
  "GET /tenants": [200, 200, 200, 200, 200],
  "POST /tenants": [201, 201, 201, 201, 201],
  "GET /tenants/{tenantId}": [200, 200, 200, 200, 404],
  "PATCH /tenants/{tenantId}": [403, 403, 200, 200, 404],
  "DELETE /tenants/{tenantId}": [404, 404, 404, 204, 404],

  "GET /members": [200, 200, 200, 200, 403],
  "POST /members": [403, 403, 201, 201, 403],
  "POST /members an OWNER": [403, 403, 403, 201, 403],
  "GET /members/{memberId}": [200, 200, 200, 200, 403],
  "PATCH /members/{memberId}": [403, 403, 200, 200, 403],
  "PATCH /members/{memberId} to OWNER": [403, 403, 403, 200, 403],
  "PATCH /members/{memberId} an OWNER": [403, 403, 403, 200, 403],
  "PATCH /members/{memberId} themselves": [403, 403, 200, 200, 403],
  "DELETE /members/{memberId}": [403, 403, 204, 204, 403],
  "DELETE /members/{memberId} an OWNER": [403, 403, 403, 204, 403],
  "DELETE /members/{memberId} themselves": [204, 204, 204, 204, 403],

  "GET /limits": [200, 200, 200, 200, 403],

  ...everydayRows("clients", "clientId"),
  ...everydayRows("addresses", "addressId"),
  ...everydayRows("contacts", "contactId"),
  ...everydayRows("emails", "emailId"),
  ...everydayRows("contracts", "contractId"),
  ...everydayRows("projects", "projectId"),
  "GET /projects/{projectId}": [200, 200, 200, 200, 404],

  ...everydayRows("invoices", "invoiceId"),
  ...everydayRows("billables", "billableId"),
  "GET /invoices/{invoiceId}/explain": [200, 200, 200, 200, 403],
  "GET /invoices/{invoiceId}/pdf": [200, 200, 200, 200, 403],
  "POST /invoices/{invoiceId}/finalize": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/pay": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/void": [403, 403, 200, 200, 403],
  "POST /invoices/{invoiceId}/billables/from-issues": [403, 201, 201, 201, 403],
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
  "PATCH /invoice-series": { pattern: "{seq:4}" }
}

describe("roles", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const make = async (tenant: string, path: string, body: object) => {
    const answer = await service.api("POST", path, { as: "founder", tenant, body })
    assert.strictEqual(answer.status, 201)
    return String(answer.body.data.id)
  }

  /** A tenant with one member of each role, called by it, beside the founder. */
  const stage = async () => {
    const tenant = await service.newTenant("founder")
    const own: Record<string, string> = {}
    for (const role of callers.slice(0, 4)) own[role] = await make(tenant, "/members", { subject: role, role })
    return { tenant, own }
  }
  type Stage = Awaited<ReturnType<typeof stage>>

  /** The path of a row about an asset, with one that is just so far that this can be done to it. */
  const assetPathIn = async (row: string, path: string, tenant: string) => {
    const assets = assetClient(service, tenant, "founder")
    const makers: Readonly<Record<string, () => Promise<{ readonly assetId: string }>>> = {
      "PUT /assets/{assetId}/content": () => assets.declare(),
      "POST /assets/{assetId}/complete": () => assets.uploaded(png())
    }
    const { assetId } = await (makers[row]?.() ?? assets.ready())
    return path.replace("{assetId}", assetId)
  }

  /** The path of a row about what hangs on somebody, where something hangs already. */
  const mediaPathIn = async (path: string, tenant: string) => {
    const client = await resourceMaker(service, tenant, "founder").make("clients")
    const filled = path.replace("{tenantId}", tenant).replace("{clientId}", client.id).replace("{slot}", "logo")
    const { assetId } = await assetClient(service, tenant, "founder").ready()
    const { status } = await service.api("PUT", filled, { as: "founder", tenant, body: { assetId } })
    assert.strictEqual(status, 200)
    return filled
  }

  /** The path of a row about an integration, with a delivery to it. */
  const integrationPathIn = async (path: string, tenant: string) => {
    const pool = openPool(service.database.url)
    const integration = await insertIntegration(pool, tenant)
    const delivery = await insertDelivery(pool, tenant, integration)
    await pool.end()
    return path.replace("{integrationId}", integration).replace("{deliveryId}", delivery)
  }

  /** The path of a row, with something new to act on unless the caller acts on itself. */
  const addressIn = async (row: string, caller: string, { own, tenant }: Stage) => {
    const [, path = "", ...about] = row.split(" ")
    if (path.includes("{slot}")) return mediaPathIn(path, tenant)
    if (path.includes("{integrationId}")) return integrationPathIn(path, tenant)
    if (path.includes("{assetId}")) return assetPathIn(row, path, tenant)
    const role = about.join(" ") === "an OWNER" ? "OWNER" : "VIEWER"
    const kind = everydayKindOf(row)
    if (kind !== undefined && path.includes("{")) {
      return `/${kind}/${(await resourceMaker(service, tenant, "founder").make(kind)).id}`
    }
    if (/\{(invoice|billable)Id\}/.test(path)) {
      const { id, line } = await invoiceClient(service, tenant, "founder").invoiceIn(statusIn(row))
      return path.replace("{invoiceId}", id).replace("{billableId}", line)
    }
    if (!path.includes("{memberId}")) return path.replace("{tenantId}", tenant)
    const self = about.includes("themselves") ? own[caller] : undefined
    return path.replace("{memberId}", self ?? (await make(tenant, "/members", { subject: `for ${caller}`, role })))
  }

  const bodyIn = async (row: string, caller: string, { tenant }: Stage) => {
    const kind = everydayKindOf(row)
    if (row.startsWith("PUT") && row.includes("{slot}")) {
      return { body: { assetId: (await assetClient(service, tenant, "founder").ready()).assetId } }
    }
    if (row.startsWith("POST /members")) return { body: { ...bodies[row], subject: `friend of ${caller}` } }
    const invoicing = invoiceClient(service, tenant, "founder")
    if (row === "POST /invoices") return { body: { contractId: (await invoicing.contract()).id } }
    if (row === "POST /billables") {
      return { body: { invoiceId: (await invoicing.draft()).id, billables: [lineOf()] } }
    }
    if (row.endsWith("/from-issues")) {
      const pool = openPool(service.database.url)
      const integrationId = await insertIntegration(pool, tenant)
      await insertIssues(pool, tenant, integrationId, 1, caller)
      await pool.end()
      return { body: { integrationId, issueKeys: [`${caller}-0`], amountMinor: 100 } }
    }
    if (kind !== undefined && row.startsWith("POST")) {
      return { body: await resourceMaker(service, tenant, "founder").bodyOf(kind) }
    }
    if (kind !== undefined && row.startsWith("PATCH")) return { body: { order: 1 } }
    return bodies[row] === undefined ? {} : { body: bodies[row] }
  }

  for (const [row, expected] of Object.entries(table)) {
    it(`decide about ${row}`, async () => {
      const scene = await stage()
      const [method = ""] = row.split(" ", 1)
      for (const [index, caller] of callers.entries()) {
        const options = { as: caller, tenant: scene.tenant, ...(await bodyIn(row, caller, scene)) }
        const { status } = await service.api(method, await addressIn(row, caller, scene), options)
        assert.strictEqual(status, expected[index], `as ${caller}`)
      }
    })
  }

  it("are decided here for every operation on tenants, members, what these contract, invoice and brand", () => {
    const groups = new Set(Object.keys(table).map((row) => /^\w+ \/([\w-]+)/.exec(row)?.[1]))
    assert.includeMembers(
      [...groups],
      ["tenants", "members", "limits", ...everyday, "invoices", "billables", "invoice-series", "assets"]
    )
    const ofThese = operationsOf(service.document)
      .map(({ name }) => name.replace("/api/v1", ""))
      .filter((name) => groups.has(/^\w+ \/([\w-]+)/.exec(name)?.[1]))
      // What else there is of integrations is decided in integrations/access.test.ts.
      .filter((name) => !name.includes(" /integrations") || /deliver/.test(name))
    const decided = Object.keys(table).filter((row) => row.split(" ").length === 2)
    assert.sameMembers(ofThese, decided)
  })

  it("are asked for before the body is looked at", async () => {
    const { tenant } = await stage()
    for (const as of ["VIEWER", "outsider"]) {
      const answer = await service.api("POST", "/clients", { as, tenant, body: "{" })
      assert.strictEqual(answer.status, 403)
    }
  })

  for (const [what, tenant] of Object.entries({ missing: undefined, malformed: "tnt_NO", empty: "" })) {
    it(`need a tenant, and a ${what} one is the caller's fault`, async () => {
      const answer = await service.api("GET", "/clients", {
        as: "VIEWER",
        ...(tenant === undefined ? {} : { headers: { "tenant-id": tenant } })
      })
      assert.strictEqual(answer.status, 400)
      assert.lengthOf(answer.body.details, 1)
      assert.strictEqual(answer.body.details[0].field, "tenant-id")
      assert.strictEqual(answer.body.details[0].constraint, tenant === undefined ? "required" : "format")
    })
  }
})
