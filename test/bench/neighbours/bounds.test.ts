import { assert, describe, it } from "vitest"
import { findViolations, mergeMeasurements, type RowResult } from "../../../bench/neighbours/bounds.ts"
import { formatResultTable } from "../../../bench/neighbours/report.ts"

const withinBounds: RowResult = {
  name: "an attack",
  measurements: { reads: Array.from({ length: 100 }, () => 10), pings: [100], pdfs: [200], failures: {} },
  apiMegabytes: 300,
  attackerResponses: new Map([["429", 7]]),
  findings: []
}

const withFigures = (figures: Partial<RowResult["measurements"]>): RowResult => ({
  ...withinBounds,
  measurements: { ...withinBounds.measurements, ...figures }
})

describe("findViolations", () => {
  it("reports nothing when the victim is served quickly, whatever responses the attacker gets", () => {
    assert.deepStrictEqual(findViolations(withinBounds), [])
  })

  it("checks the 95th percentile of reads and the slowest ping and PDF", () => {
    const slow = (count: number) => Array.from({ length: 100 }, (_, n) => (n < count ? 1000 : 10))
    assert.deepStrictEqual(findViolations(withFigures({ reads: slow(5) })), [])
    assert.deepStrictEqual(findViolations(withFigures({ reads: slow(6) })), ["reads"])
    assert.deepStrictEqual(findViolations(withFigures({ pings: [10, 3000] })), ["ping"])
    assert.deepStrictEqual(findViolations(withFigures({ pdfs: [10, 5000] })), ["PDF"])
  })

  it("reports failures, memory, an ended API process and broken findings", () => {
    assert.deepStrictEqual(findViolations(withFigures({ failures: { "read 503": 1 } })), ["failures"])
    assert.deepStrictEqual(findViolations({ ...withinBounds, apiMegabytes: 1000 }), ["memory"])
    assert.deepStrictEqual(findViolations({ ...withinBounds, apiMegabytes: undefined }), ["api ended"])
    const findings = [
      { description: "7 events lost", isViolation: true },
      { description: "0.1 MB of events", isViolation: false }
    ]
    assert.deepStrictEqual(findViolations({ ...withinBounds, findings }), ["7 events lost"])
  })

  it("reports a victim without any response", () => {
    assert.deepStrictEqual(findViolations(withFigures({ reads: [], pings: [], pdfs: [] })), ["reads", "ping", "PDF"])
  })
})

describe("mergeMeasurements", () => {
  it("concatenates measurements and adds up failures", () => {
    const one = { reads: [1], pings: [2], pdfs: [3], failures: { "read 503": 1 } }
    assert.deepStrictEqual(mergeMeasurements([one, { ...one, failures: { "read 503": 2, "ping 500": 1 } }]), {
      reads: [1, 1],
      pings: [2, 2],
      pdfs: [3, 3],
      failures: { "read 503": 3, "ping 500": 1 }
    })
  })
})

describe("formatResultTable", () => {
  it("shows the figures with the broken bounds", () => {
    const [, , line = ""] = formatResultTable([withFigures({ pings: [4000], failures: { "ping 503": 2 } })]).split("\n")
    const cells = line.split("|").map((cell) => cell.trim())
    assert.includeMembers(cells, ["an attack", "4000", "ping 503: 2", "429: 7", "ping, failures"])
  })
})
