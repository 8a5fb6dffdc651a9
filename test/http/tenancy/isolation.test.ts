import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeOpenApiDocument } from "../../../src/http/api/OpenApi.ts"
import { Api } from "../../../src/http/HandlerGroups.ts"
import { type Operation, operationsOf } from "../../support/assertions/operations.ts"
import { minimalBodies, prefixOf } from "../../support/fixtures/minimalBodies.ts"
import { makeTenantFixture, type TenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

const unauthorized = { status: 401, text: `{"error":"Unauthorized","message":"Unauthorized"}` }
const forbidden = { status: 403, text: `{"error":"Forbidden","message":"Forbidden"}` }
const notFound = { status: 404, text: `{"error":"NotFound","message":"Not Found"}` }

const brief = ({ status, text }: ServiceResponse) => ({ status, text })

/** All of an answer that a caller can see, but for what differs from one answer to the next anyway. */
const visible = ({ headers, ...answer }: ServiceResponse) => ({
  ...brief({ headers, ...answer }),
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
/** Such an address is no operation's. */
const undecodable = ["%ff", "%zz"]

/** The path parameters of an operation that are identifiers, with their prefixes. */
const identifiers = ({ pathParameters }: Operation) =>
  pathParameters.flatMap(({ name, schema }) => {
    const prefix = prefixOf(schema)
    return prefix === undefined ? [] : [{ name, prefix }]
  })

const document = makeOpenApiDocument(Api)
const bodyFor = minimalBodies(document)

/** Whether a body can name something else by its identifier. */
const hasReferences = ({ body }: Operation) =>
  body !== undefined &&
  JSON.stringify(bodyFor(body, { idOf: unknownId, text: () => "text", everyReference: true })).includes(unknownId(""))

/** What anyone may call knows no tenant to keep apart. */
const operations = operationsOf(document).filter(({ needsToken }) => needsToken)

describe("of another tenant", () => {
  let service: Service
  let pool: pg.Pool
  let theirs: TenantFixture
  let ours: TenantFixture
  let before: ReadonlyArray<unknown>

  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    theirs = await makeTenantFixture(service, "their-owner")
    ours = await makeTenantFixture(service, "our-owner")
    before = await everythingOfTheirs()
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  const send = async (operation: Operation, address: string, options: Parameters<Service["call"]>[2] = {}) => {
    const answer = await service.call(operation.method, address, { ...ours.bodyOf(operation), ...options })
    const seen = answer.text + JSON.stringify([...answer.headers])
    assert.notInclude(seen, theirs.marker)
    for (const id of theirs.ids.values()) if (!address.includes(id)) assert.notInclude(seen, id)
    return answer
  }
  /** As we would do it in our own tenant. */
  const us = (operation: Operation) => ({
    as: ours.owner,
    ...(operation.tenant === "header" ? { tenant: ours.tenant } : {})
  })

  /** What they see of their own, and what was recorded of it. */
  const everythingOfTheirs = async () => {
    const seen: Array<unknown> = []
    for (const operation of operations.filter(({ method }) => method === "GET")) {
      const options = { as: theirs.owner, tenant: theirs.tenant }
      seen.push([operation.name, brief(await service.call("GET", theirs.addressIn(operation), options))])
    }
    const { rows } = await pool.query("select * from events where tenant_id = $1 order by id", [theirs.tenant])
    return [...seen, rows]
  }

  it("there is something to be kept from us", () => {
    const needed = operations.flatMap((operation) => identifiers(operation).map(({ prefix }) => prefix))
    for (const prefix of needed) assert.notStrictEqual(theirs.idOf(prefix), ours.idOf(prefix))
    assert.include(JSON.stringify(before), theirs.marker)
  })

  for (const operation of operations) {
    it(`${operation.name} tells nothing without a token`, async () => {
      const address = theirs.addressIn(operation)
      assert.deepStrictEqual(brief(await send(operation, address, { tenant: theirs.tenant })), unauthorized)
      assert.deepStrictEqual(brief(await send(operation, address)), unauthorized)
      for (const { name, prefix } of identifiers(operation)) {
        for (const id of malformedIds(prefix)) {
          const answer = await send(operation, theirs.addressIn(operation, { [name]: id }))
          assert.deepStrictEqual(brief(answer), unauthorized, id)
        }
      }
    })

    if (operation.tenant === "header") {
      it(`${operation.name} tells outsiders as little as of a tenant that is not there`, async () => {
        const address = theirs.addressIn(operation)
        const foreign = await send(operation, address, { as: ours.owner, tenant: theirs.tenant })
        assert.deepStrictEqual(brief(foreign), forbidden)
        const unknown = await send(operation, address, { as: ours.owner, tenant: unknownId("tnt") })
        assert.deepStrictEqual(visible(foreign), visible(unknown))
      })
    }

    for (const { name, prefix } of identifiers(operation)) {
      it(`${operation.name} finds no ${name} of theirs, no unknown and no malformed one, all alike`, async () => {
        const answerTo = (id: string) => send(operation, ours.addressIn(operation, { [name]: id }), us(operation))
        const foreign = await answerTo(theirs.idOf(prefix))
        assert.deepStrictEqual(brief(foreign), notFound)
        for (const id of [unknownId(prefix), ...malformedIds(prefix), ...undecodable]) {
          assert.deepStrictEqual(visible(await answerTo(id)), visible(foreign), id)
        }
      })
    }

    if (operation.method === "GET" && operation.pathParameters.length === 0) {
      it(`${operation.name} lists nothing of theirs`, async () => {
        const { status } = await send(operation, operation.path, us(operation))
        assert.strictEqual(status, 200)
      })
    }

    if (hasReferences(operation)) {
      it(`${operation.name} refers to nothing of theirs`, async () => {
        const { body } = ours.bodyOf(operation, { idOf: theirs.idOf, everyReference: true })
        const answer = await service.call(operation.method, ours.addressIn(operation), { ...us(operation), body })
        assert.include([400, 404], answer.status)
        assert.notInclude(answer.text, theirs.marker)
      })
    }
  }

  it("nothing has changed", async () => {
    assert.deepStrictEqual(await everythingOfTheirs(), before)
  })
})

describe("an Idempotency-Key of another tenant", () => {
  let service: Service
  let theirs: TenantFixture
  let alsoTheirs: TenantFixture
  let ours: TenantFixture
  beforeAll(async () => {
    service = await startService()
    theirs = await makeTenantFixture(service, "their-owner")
    alsoTheirs = await makeTenantFixture(service, "their-owner")
    ours = await makeTenantFixture(service, "our-owner")
  })
  afterAll(() => service.stop())

  for (const operation of operations.filter(({ creates }) => creates)) {
    it(`brings up what ${operation.name} answered to them for nobody else and nowhere else`, async () => {
      const headers = { "idempotency-key": "the-same" }
      const body = theirs.bodyOf(operation)
      const sendAs = ({ addressIn, owner, tenant }: TenantFixture, body: object) =>
        service.call(operation.method, addressIn(operation), {
          as: owner,
          ...(operation.tenant === "header" ? { tenant } : {}),
          ...body,
          headers
        })
      const first = await sendAs(theirs, body)
      assert.strictEqual(first.status, 201)
      const again = await sendAs(theirs, body)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")

      for (const world of operation.tenant === "header" ? [alsoTheirs, ours] : [ours]) {
        const own = await sendAs(world, world.bodyOf(operation))
        assert.strictEqual(own.status, 201)
        assert.isFalse(own.headers.has("idempotent-replayed"))
        assert.notInclude(own.text, theirs.marker)
      }
    })
  }
})
