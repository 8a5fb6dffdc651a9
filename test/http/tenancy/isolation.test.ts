import { assert, beforeAll, describe, it } from "vitest"
import { Api } from "../../../src/http/api/Api.ts"
import { makeOpenApiDocument } from "../../../src/http/api/OpenApi.ts"
import { type Operation, operationsOf } from "../../support/assertions/operations.ts"
import { minimalBodies, prefixOf } from "../../support/fixtures/minimalBodies.ts"
import { makeTenantFixture, type TenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

const unauthorized = { status: 401, text: `{"error":"Unauthorized","message":"Unauthorized"}` }
const forbidden = { status: 403, text: `{"error":"Forbidden","message":"Forbidden"}` }
const notFound = { status: 404, text: `{"error":"NotFound","message":"Not Found"}` }

const statusAndText = ({ status, text }: ServiceResponse) => ({ status, text })

/** All that a caller sees of a response, except headers that always differ. */
const visible = ({ headers, ...response }: ServiceResponse) => ({
  ...statusAndText({ headers, ...response }),
  headers: [...headers].filter(([name]) => name !== "x-request-id" && name !== "date")
})

const unknownId = (prefix: string) => `${prefix}_${"0".repeat(26)}`
const malformedIds = (prefix: string) => [
  "nonsense",
  `${prefix}_`,
  `${prefix}_UPPER`,
  `${prefix}_${"a".repeat(65)}`,
  `${prefix}_1'--`,
  `xx${unknownId(prefix)}`,
  "%00",
  "..%2f",
  "a".repeat(101)
]
/** No operation has such a path. */
const undecodable = ["%ff", "%zz"]

/** The path parameters of an operation that are identifiers, with their prefixes. */
const identifiers = ({ pathParameters }: Operation) =>
  pathParameters.flatMap(({ name, schema }) => {
    const prefix = prefixOf(schema)
    return prefix === undefined ? [] : [{ name, prefix }]
  })

const document = makeOpenApiDocument(Api)
const bodyFor = minimalBodies(document)

/** Whether a body can contain ids of other resources. */
const hasReferences = ({ body }: Operation) =>
  body !== undefined &&
  JSON.stringify(bodyFor(body, { idOf: unknownId, text: () => "text", everyReference: true })).includes(unknownId(""))

/** Operations without a token belong to no tenant. */
const operations = operationsOf(document).filter(({ needsToken }) => needsToken)

/** A service with two tenants of one owner, and a tenant of another owner. Tokens are signed once, which saves time. */
const startServiceWithTenants = async () => {
  const service = await startService()
  const pool = openPool(service.database.url)
  const [foreignOwner, owner] = [await service.token("foreign-owner"), await service.token("owner")]
  const stop = async () => {
    await pool.end()
    await service.stop()
  }
  return {
    service,
    pool,
    foreign: await makeTenantFixture(service, foreignOwner),
    otherForeign: await makeTenantFixture(service, foreignOwner),
    own: await makeTenantFixture(service, owner),
    stop
  }
}

describe("Tenant isolation", () => {
  const at = useFixture(startServiceWithTenants)
  let before: ReadonlyArray<unknown>
  beforeAll(async () => {
    before = await readForeignTenant()
  })

  const send = async (operation: Operation, address: string, options: Parameters<Service["call"]>[2] = {}) => {
    const { foreign, own, service } = at()
    const response = await service.call(operation.method, address, { ...own.bodyOf(operation), ...options })
    const visibleText = response.text + JSON.stringify([...response.headers])
    assert.notInclude(visibleText, foreign.marker)
    for (const id of foreign.ids.values()) if (!address.includes(id)) assert.notInclude(visibleText, id)
    return response
  }
  const asOwner = (operation: Operation) => ({
    as: at().own.owner,
    ...(operation.tenant === "header" ? { tenant: at().own.tenant } : {})
  })

  /** An archive contains the time of its export. */
  const isTimeless = ({ name }: Operation) => name !== "GET /api/v1/tenants/{tenantId}/export"

  /** All that the owner of the foreign tenant can read, and its events. */
  const readForeignTenant = async () => {
    const { foreign, pool, service } = at()
    const options = { as: foreign.owner, tenant: foreign.tenant }
    const responses: Array<unknown> = []
    for (const operation of operations.filter(({ method }) => method === "GET").filter(isTimeless)) {
      const response = await service.call("GET", foreign.addressIn(operation), options)
      responses.push([operation.name, statusAndText(response)])
    }
    const { rows } = await pool.query("select * from events where tenant_id = $1 order by id", [foreign.tenant])
    return [...responses, rows]
  }

  it("is tested with a resource of every kind in both tenants", () => {
    const { foreign, own } = at()
    const needed = operations.flatMap((operation) => identifiers(operation).map(({ prefix }) => prefix))
    for (const prefix of needed) assert.notStrictEqual(foreign.idOf(prefix), own.idOf(prefix))
    assert.include(JSON.stringify(before), foreign.marker)
  })

  for (const operation of operations) {
    it(`makes ${operation.name} respond with 401 without a token`, async () => {
      const { foreign } = at()
      const address = foreign.addressIn(operation)
      assert.deepStrictEqual(statusAndText(await send(operation, address, { tenant: foreign.tenant })), unauthorized)
      assert.deepStrictEqual(statusAndText(await send(operation, address)), unauthorized)
      for (const { name, prefix } of identifiers(operation)) {
        await Promise.all(
          malformedIds(prefix).map(async (id) => {
            const response = await send(operation, foreign.addressIn(operation, { [name]: id }))
            assert.deepStrictEqual(statusAndText(response), unauthorized, id)
          })
        )
      }
    })

    if (operation.tenant === "header") {
      it(`makes ${operation.name} respond to a non-member as for an unknown tenant`, async () => {
        const { foreign, own } = at()
        const address = foreign.addressIn(operation)
        const response = await send(operation, address, { as: own.owner, tenant: foreign.tenant })
        assert.deepStrictEqual(statusAndText(response), forbidden)
        const unknown = await send(operation, address, { as: own.owner, tenant: unknownId("tnt") })
        assert.deepStrictEqual(visible(response), visible(unknown))
      })
    }

    for (const { name, prefix } of identifiers(operation)) {
      it(`makes ${operation.name} respond alike to a foreign, unknown or malformed ${name}`, async () => {
        const { foreign, own } = at()
        const sendWith = (id: string) => send(operation, own.addressIn(operation, { [name]: id }), asOwner(operation))
        const expected = await sendWith(foreign.idOf(prefix))
        assert.deepStrictEqual(statusAndText(expected), notFound)
        await Promise.all(
          [unknownId(prefix), ...malformedIds(prefix), ...undecodable].map(async (id) =>
            assert.deepStrictEqual(visible(await sendWith(id)), visible(expected), id)
          )
        )
      })
    }

    if (operation.method === "GET" && operation.pathParameters.length === 0) {
      it(`makes ${operation.name} list nothing of another tenant`, async () => {
        const { status } = await send(operation, operation.path, asOwner(operation))
        assert.strictEqual(status, 200)
      })
    }

    if (hasReferences(operation)) {
      it(`makes ${operation.name} reject references to another tenant`, async () => {
        const { foreign, own, service } = at()
        const { body } = own.bodyOf(operation, { idOf: foreign.idOf, everyReference: true })
        const options = { ...asOwner(operation), body }
        const response = await service.call(operation.method, own.addressIn(operation), options)
        assert.include([400, 404], response.status)
        assert.notInclude(response.text, foreign.marker)
      })
    }
  }

  it("keeps the other tenant unchanged by all requests above", async () => {
    assert.deepStrictEqual(await readForeignTenant(), before)
  })

  for (const operation of operations.filter(({ creates }) => creates)) {
    it(`makes ${operation.name} replay an Idempotency-Key only in the same tenant for the same user`, async () => {
      const { foreign, otherForeign, own, service } = at()
      const headers = { "idempotency-key": "the-same" }
      const body = foreign.bodyOf(operation)
      const sendAs = ({ addressIn, owner, tenant }: TenantFixture, body: object) =>
        service.call(operation.method, addressIn(operation), {
          as: owner,
          ...(operation.tenant === "header" ? { tenant } : {}),
          ...body,
          headers
        })
      const first = await sendAs(foreign, body)
      assert.strictEqual(first.status, 201)
      const again = await sendAs(foreign, body)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")

      for (const fixture of operation.tenant === "header" ? [otherForeign, own] : [own]) {
        const response = await sendAs(fixture, fixture.bodyOf(operation))
        assert.strictEqual(response.status, 201)
        assert.isFalse(response.headers.has("idempotent-replayed"))
        assert.notInclude(response.text, foreign.marker)
      }
    })
  }
})
