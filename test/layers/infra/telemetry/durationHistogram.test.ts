import { Histogram, Registry } from "prom-client"
import { assert, describe, it } from "vitest"
import { DurationHistogram } from "../../../../src/layers/infra/telemetry/DurationHistogram.ts"

const observed = [0, 0.001, 0.0011, 0.25, 0.5, 0.50001, 7, 0.001, 1e-9]

const options = (registry: Registry) => ({
  name: "duration_seconds",
  help: "How long it took",
  labelNames: ["operation", "status"],
  buckets: [0.001, 0.25, 0.5],
  registers: [registry]
})

const linesOf = async (registry: Registry) => (await registry.metrics()).split("\n").sort()

describe("A histogram of durations", () => {
  it("is exported as that of prom-client", async () => {
    const [own, reference] = [new Registry(), new Registry()]
    const histogram = new DurationHistogram(options(own))
    const expected = new Histogram(options(reference))
    for (const status of ["200", "404"]) {
      const series = histogram.series("clients.list", status)
      for (const seconds of observed.slice(status === "404" ? 3 : 0)) {
        series.observe(seconds)
        expected.observe({ operation: "clients.list", status }, seconds)
      }
    }
    assert.deepStrictEqual(await linesOf(own), await linesOf(reference))
  })

  it("has a series from the beginning if it has no labels", async () => {
    const [own, reference] = [new Registry(), new Registry()]
    const series = new DurationHistogram({ ...options(own), labelNames: [] }).series()
    const expected = new Histogram({ ...options(reference), labelNames: [] })
    assert.deepStrictEqual(await linesOf(own), await linesOf(reference))
    series.observe(0.3)
    expected.observe(0.3)
    assert.deepStrictEqual(await linesOf(own), await linesOf(reference))
  })
})
