import { randomBytes } from "node:crypto"
import { assert } from "vitest"
import { eventTypes } from "../../src/domain/events/EventCatalogue.ts"
import { openPool } from "./database.ts"
import { plantDelivery, plantIntegration, plantParts } from "./deliveries.ts"
import { minimalBodies, prefixOf, type Source } from "./minimalBodies.ts"
import { addressOf, type Operation, operationsOf } from "./operations.ts"
import type { Service } from "./service.ts"
import { plantInbound, plantIssues } from "./trackerRows.ts"
import { plantTracker } from "./trackers.ts"

class NotYetMade extends Error {}

const fromIssues = "POST /api/v1/invoices/{invoiceId}/billables/from-issues"

/** As many issues as a world has, each to be billed once. */
const worldIssues = 200
let issues = 0

/** What others need of a resource beyond the least it takes, or what it takes only once; `n` is another each time. */
const more: Readonly<Record<string, (n: number) => object>> = {
  "POST /api/v1/contracts": () => ({ status: "ACTIVE" }),
  "POST /api/v1/integrations": () => ({ provider: "WEBHOOK", config: { url: "http://127.0.0.1:9/hook" } }),
  "POST /api/v1/integrations/{integrationId}/subscriptions": (n) => ({
    eventType: eventTypes[n % eventTypes.length]?.type
  }),
  [fromIssues]: () => ({
    issueKeys: [`WORLD-${issues++ % worldIssues}`]
  })
}

/** What no request creates: the ledger is written by the workers. */
const plantDeliveries = async (service: Service, ids: Map<string, string>) => {
  const tenant = ids.get("tnt") ?? ""
  const pool = openPool(service.database.url)
  const known = ids.get("int")
  const integration = known ?? (await plantIntegration(pool, tenant, ids.get("clnt")))
  if (known !== undefined) await plantParts(pool, tenant, known, ids.get("clnt"))
  ids.set("int", integration)
  const delivery = await plantDelivery(pool, tenant, integration)
  ids.set("dlv", delivery)
  await plantTracker(pool, tenant, integration, delivery)
  ids.set("whk", await plantInbound(pool, tenant, integration))
  await pool.end()
}

/**
 * A tenant with one of everything that can be created, whatever the document offers: each operation that creates is
 * called with the least it takes, as soon as what it refers to is there.
 */
export const makeWorld = async (service: Service, owner: string) => {
  const marker = `secret${randomBytes(6).toString("hex")}`
  const ids = new Map<string, string>()
  const operations = operationsOf(service.document)
  const bodyFor = minimalBodies(service.document)
  let texts = 0

  const idOf = (prefix: string) => {
    const id = ids.get(prefix)
    if (id === undefined) throw new NotYetMade(`nothing has made a ${prefix}_`)
    return id
  }
  const source: Source = { idOf, text: () => `${marker}${texts++}` }

  /** The least body of an operation, with what only this world has in it. */
  const bodyOf = ({ body, name }: Operation, other: Partial<Source> = {}) =>
    body === undefined ? {} : { body: Object.assign({}, bodyFor(body, { ...source, ...other }), more[name]?.(texts++)) }

  /** An operation's address with this world's identifiers, but for those given. */
  const addressIn = (operation: Operation, given: Readonly<Record<string, string>> = {}) =>
    addressOf(operation, (name) => {
      const schema = operation.pathParameters.find((parameter) => parameter.name === name)?.schema ?? {}
      const prefix = prefixOf(schema)
      return given[name] ?? (prefix === undefined ? String(bodyFor(schema, source)) : idOf(prefix))
    })

  /** Issues to be billed: they come from a tracker and not by a request. */
  const plantWhatItTakes = async ({ name }: Operation) => {
    if (name !== fromIssues) return
    const pool = openPool(service.database.url)
    ids.set("iss", await plantIssues(pool, idOf("tnt"), idOf("int"), worldIssues))
    await pool.end()
  }

  const create = async (operation: Operation) => {
    await plantWhatItTakes(operation)
    const options = { as: owner, ...(operation.tenant === "header" ? { tenant: idOf("tnt") } : {}) }
    const { body, status, text } = await service.call(operation.method, addressIn(operation), {
      ...options,
      ...bodyOf(operation)
    })
    assert.strictEqual(status, 201, `${operation.name}: ${text}`)
    const [made] = [body.data].flat()
    const id = String(made.id ?? made.assetId)
    ids.set(id.split("_", 1)[0] ?? "", id)
  }

  /** What could not be made yet for want of something else. */
  const remaining = async (creating: ReadonlyArray<Operation>) => {
    const left: Array<{ readonly operation: Operation; readonly why: string }> = []
    for (const operation of creating) {
      try {
        await create(operation)
      } catch (error) {
        if (!(error instanceof NotYetMade)) throw error
        left.push({ operation, why: `${operation.name}: ${error.message}` })
      }
    }
    return left
  }

  // A tenant comes first, and everything else goes into it.
  const creating = operations.filter(({ creates }) => creates)
  const [founding, rest] = [
    creating.filter(({ tenant }) => tenant === "none"),
    creating.filter(({ tenant }) => tenant !== "none")
  ]
  for (const operation of founding) await create(operation)
  for (let todo = rest; todo.length > 0; ) {
    const left = await remaining(todo)
    assert.isBelow(left.length, todo.length, left.map(({ why }) => why).join("\n"))
    todo = left.map(({ operation }) => operation)
  }

  const { body } = await service.api("POST", `/integrations/${idOf("int")}/ping`, { as: owner, tenant: idOf("tnt") })
  ids.set("evt", body.data.id)

  await plantDeliveries(service, ids)
  return { owner, tenant: idOf("tnt"), marker, ids, idOf, bodyOf, addressIn }
}

export type World = Awaited<ReturnType<typeof makeWorld>>
