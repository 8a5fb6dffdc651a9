import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sectionOf, tableRowsOf } from "../support/assertions/docs.ts"
import { parseMetrics } from "../support/assertions/metrics.ts"
import { type Service, startService } from "../support/servers/service.ts"

const isDefaultMetric = (name: string) => /^(process|nodejs)_/.test(name)

/** The documented metrics by name, each with its labels. */
const documented = Object.fromEntries(
  tableRowsOf(sectionOf("docs/operations.md", "Metrics"))
    .slice(1)
    .map(([metric = "", meaning = ""]) => {
      const [name = "", labels = ""] = metric.split(/[{}]/)
      return [name, { labels: labels.split(",").filter((label) => label !== ""), meaning }]
    })
)

describe("The metrics of docs/operations.md", () => {
  let service: Service
  let text: string
  beforeAll(async () => {
    service = await startService({})
    await service.newTenant()
    text = (await service.call("GET", "/metrics")).text
  })
  afterAll(() => service.stop())

  it("are all metrics that a process exposes, and no others", () => {
    const exposed = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name)
    assert.sameMembers(
      Object.keys(documented),
      exposed.filter((name) => !isDefaultMetric(name))
    )
  })

  it("have the labels and the values that a process exposes", () => {
    for (const { labels, name } of parseMetrics(text)) {
      const metric = documented[name.replace(/_(bucket|sum|count)$/, "")]
      if (metric === undefined) continue
      const { le: _, ...own } = labels
      assert.sameMembers(Object.keys(own), metric.labels, name)
      if (name.startsWith("http_request_duration") || name === "build_info") continue
      for (const value of Object.values(own)) assert.include(metric.meaning, value, name)
    }
  })
})
