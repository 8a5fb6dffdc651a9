import { assert, describe, it } from "vitest"
import { assertToldAll, type Committed, meantFor } from "./history.ts"

const committed = (resource: string, sequence: number, fields: Partial<Committed> = {}): Committed => ({
  tenant: "one",
  id: `${resource}.${sequence}`,
  type: "client.updated",
  resource,
  client: resource,
  sequence,
  ...fields
})

const telling = ({ id }: Committed) => ({ id, text: JSON.stringify({ id }) })

const a1 = committed("a", 1)
const a2 = committed("a", 2)
const b1 = committed("b", 1)
const meant = [a1, a2, b1]

describe("the judge of what was told", () => {
  const accepts = (...told: ReadonlyArray<Committed>) => assertToldAll("hook", meant, told.map(telling))
  const refuses = (why: RegExp, ...told: ReadonlyArray<{ readonly id: string; readonly text: string }>) =>
    assert.throws(() => assertToldAll("hook", meant, told), why)

  it("accepts whatever order different resources come in, and what comes again", () => {
    accepts(a1, a2, b1)
    accepts(b1, a1, a2)
    accepts(a1, b1, a1, a2, b1, a1)
  })

  it("misses what did not come", () => {
    refuses(/hook was not told/, ...[a1, b1].map(telling))
    refuses(/hook was not told/)
  })

  it("sees one of a resource that came before its time, even if it comes again later", () => {
    refuses(/hook: a/, ...[a2, a1, b1].map(telling))
    refuses(/hook: a/, ...[a2, a1, a2, b1].map(telling))
  })

  it("sees what is for somebody else", () => {
    refuses(/not for it/, ...[...meant, committed("c", 1)].map(telling))
  })

  it("sees the same told in other words", () => {
    refuses(/in other words/, ...meant.map(telling), { id: a1.id, text: `${telling(a1).text} ` })
  })

  it("sees one told under another's name", () => {
    refuses(/a\.2/, telling(a1), { ...telling(a2), text: telling(b1).text }, telling(b1))
  })
})

describe("what an integration is meant to be told", () => {
  const told = (eventType: string, clientId?: string) =>
    meantFor([a1, committed("b", 1, { type: "contact.created" }), committed("a", 3, { tenant: "other" })], {
      id: "hook",
      tenant: "one",
      subscriptions: [{ eventType, ...(clientId === undefined ? {} : { clientId }) }]
    }).map(({ id }) => id)

  it("is of its tenant, its kinds and its clients", () => {
    assert.deepStrictEqual(told("client.*"), ["a.1"])
    assert.deepStrictEqual(told("client.updated"), ["a.1"])
    assert.deepStrictEqual(told("client.created"), [])
    assert.deepStrictEqual(told("contact.*", "b"), ["b.1"])
    assert.deepStrictEqual(told("contact.*", "a"), [])
  })
})
