import { assert, describe, it } from "vitest"
import { findIllegalRequests, formatWorst, type SearchResult } from "../../../../bench/neighbours/search/result.ts"

const makeResult = (name: string, read: number, apiMegabytes: number): SearchResult => ({
  name,
  request: name.toLowerCase(),
  aloneMillis: 7,
  measurements: { reads: [1, read], pings: [100], pdfs: [200], failures: {} },
  apiMegabytes,
  attackerResponses: new Map([["200", 30]]),
  findings: []
})

describe("findIllegalRequests", () => {
  const responses = (counts: Readonly<Record<string, number>>) => new Map(Object.entries(counts))

  it("accepts successes, and rejections because of load", () => {
    assert.deepStrictEqual(findIllegalRequests(responses({ 200: 9, 404: 1, 429: 500, 503: 500 }), []), [])
    assert.deepStrictEqual(findIllegalRequests(responses({ 429: 500, "no response": 1 }), []), [])
  })

  it("fails requests that are refused", () => {
    const [finding] = findIllegalRequests(responses({ 200: 8, 400: 2, 429: 500 }), [])
    assert.deepStrictEqual(finding, { description: "only 80 % of the requests were legal", isViolation: true })
  })

  it("accepts the only refusal that an operation can have", () => {
    assert.deepStrictEqual(findIllegalRequests(responses({ 400: 10 }), [400]), [])
    assert.lengthOf(findIllegalRequests(responses({ 404: 10 }), [400]), 1)
  })
})

describe("formatWorst", () => {
  it("shows the slowest reads beside those without an attack, and most memory, worst first", () => {
    const results = [makeResult("GET /quick", 20, 900), makeResult("GET /slow", 500, 300)]
    const lines = formatWorst(makeResult("nobody", 10, 300), results).split("\n")
    const cells = lines.map((line) => line.split("|").map((cell) => cell.trim()))
    const shown = cells.filter(([, name = ""]) => name.startsWith("GET")).map(([, name, , , ratio]) => [name, ratio])
    assert.deepStrictEqual(shown, [
      ["GET /slow", "50.0"],
      ["GET /quick", "2.0"],
      ["GET /quick", "2.0"],
      ["GET /slow", "50.0"]
    ])
  })
})
