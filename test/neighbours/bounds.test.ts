import { assert, describe, it } from "vitest"
import { brokenBounds, mergeFigures, type Result } from "../../neighbours/bounds.ts"
import { resultTable } from "../../neighbours/report.ts"

const withinBounds: Result = {
  name: "an attack",
  figures: { reads: Array.from({ length: 100 }, () => 10), pings: [100], pdfs: [200], failures: {} },
  apiMegabytes: 300,
  answers: new Map([["429", 7]]),
  findings: []
}

const withFigures = (figures: Partial<Result["figures"]>): Result => ({
  ...withinBounds,
  figures: { ...withinBounds.figures, ...figures }
})

describe("brokenBounds", () => {
  it("reports nothing when the victim is served quickly, whatever responses the attacker gets", () => {
    assert.deepStrictEqual(brokenBounds(withinBounds), [])
  })

  it("checks the 95th percentile of reads and the slowest ping and PDF", () => {
    const slow = (count: number) => Array.from({ length: 100 }, (_, n) => (n < count ? 1000 : 10))
    assert.deepStrictEqual(brokenBounds(withFigures({ reads: slow(5) })), [])
    assert.deepStrictEqual(brokenBounds(withFigures({ reads: slow(6) })), ["reads"])
    assert.deepStrictEqual(brokenBounds(withFigures({ pings: [10, 3000] })), ["ping"])
    assert.deepStrictEqual(brokenBounds(withFigures({ pdfs: [10, 5000] })), ["PDF"])
  })

  it("reports failures, memory, an ended API process and broken findings", () => {
    assert.deepStrictEqual(brokenBounds(withFigures({ failures: { "read 503": 1 } })), ["failures"])
    assert.deepStrictEqual(brokenBounds({ ...withinBounds, apiMegabytes: 1000 }), ["memory"])
    assert.deepStrictEqual(brokenBounds({ ...withinBounds, apiMegabytes: undefined }), ["api ended"])
    const findings = [
      { what: "7 events lost", isBroken: true },
      { what: "0.1 MB of events", isBroken: false }
    ]
    assert.deepStrictEqual(brokenBounds({ ...withinBounds, findings }), ["7 events lost"])
  })

  it("reports a victim without any response", () => {
    assert.deepStrictEqual(brokenBounds(withFigures({ reads: [], pings: [], pdfs: [] })), ["reads", "ping", "PDF"])
  })
})

describe("mergeFigures", () => {
  it("concatenates measurements and adds up failures", () => {
    const one = { reads: [1], pings: [2], pdfs: [3], failures: { "read 503": 1 } }
    assert.deepStrictEqual(mergeFigures([one, { ...one, failures: { "read 503": 2, "ping 500": 1 } }]), {
      reads: [1, 1],
      pings: [2, 2],
      pdfs: [3, 3],
      failures: { "read 503": 3, "ping 500": 1 }
    })
  })
})

describe("resultTable", () => {
  it("shows the figures with the broken bounds", () => {
    const [, , line = ""] = resultTable([withFigures({ pings: [4000], failures: { "ping 503": 2 } })]).split("\n")
    const cells = line.split("|").map((cell) => cell.trim())
    assert.includeMembers(cells, ["an attack", "4000", "ping 503: 2", "429: 7", "ping, failures"])
  })
})
