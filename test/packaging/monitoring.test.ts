import { execFileSync } from "node:child_process"
import { join } from "node:path"
import GithubSlugger from "github-slugger"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { findPromtool } from "../../tools/local/Promtool.ts"
import { readProjectFile } from "../support/assertions/deployment.ts"
import { sectionOf } from "../support/assertions/docs.ts"
import { type Service, startService } from "../support/servers/service.ts"

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: Readonly<Record<string, string>>
}

interface RuleTest {
  readonly alert_rule_test: ReadonlyArray<{ readonly alertname: string; readonly exp_alerts?: ReadonlyArray<unknown> }>
}

interface Panel {
  readonly title: string
  readonly type: string
  readonly description?: string
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const rules: ReadonlyArray<Rule> = parse(readProjectFile("deploy/prometheus/alerts.yaml")).groups.flatMap(
  ({ rules }: { readonly rules: ReadonlyArray<Rule> }) => rules
)
const ruleTests: ReadonlyArray<RuleTest> = parse(readProjectFile("deploy/prometheus/alerts.test.yaml")).tests
const panels: ReadonlyArray<Panel> = JSON.parse(readProjectFile("deploy/grafana/dashboard.json")).panels

/** The names of metrics in an expression: what is left without labels, groupings, durations, functions and operators. */
const metricsOf = (expression: string) =>
  [...expression.replaceAll(/\{[^}]*\}|\bby \([^)]*\)|\[[^\]]*\]/g, "").matchAll(/\b([a-z]\w*)\b(?! *\()/g)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "or")

describe("The alert rules", () => {
  it("are valid, and fire as their tests say, for promtool", async () => {
    const promtool = await findPromtool()
    const run = (...args: ReadonlyArray<string>) =>
      execFileSync(promtool, args, { cwd: join(projectRoot, "deploy", "prometheus"), encoding: "utf8", stdio: "pipe" })
    assert.include(run("check", "rules", "alerts.yaml"), `SUCCESS: ${rules.length} rules found`)
    assert.include(run("test", "rules", "alerts.test.yaml"), "SUCCESS")
  })

  it("each have a test in which they fire and one in which they do not", () => {
    const tested = ruleTests.flatMap(({ alert_rule_test }) => alert_rule_test)
    const names = rules.map(({ alert }) => alert)
    assert.sameMembers(
      tested.filter(({ exp_alerts }) => exp_alerts !== undefined).map(({ alertname }) => alertname),
      names
    )
    assert.sameMembers(
      tested.filter(({ exp_alerts }) => exp_alerts === undefined).map(({ alertname }) => alertname),
      names
    )
  })

  it("each link to a section of docs/operations.md", () => {
    const slugger = new GithubSlugger()
    const headings = [...sectionOf("docs/operations.md", "Alerts").matchAll(/^### (.*)$/gm)]
    assert.sameMembers(
      rules.map(({ annotations }) => annotations["runbook"]),
      headings.map(([, heading = ""]) => `docs/operations.md#${slugger.slug(heading)}`)
    )
  })
})

describe("The dashboard", () => {
  it("describes every panel in words", () => {
    for (const { description, title, type } of panels) {
      assert.isNotEmpty(title)
      if (type !== "row") assert.match(description ?? "", /^[A-Z0-9].*\.$/, title)
    }
  })
})

describe("The alert rules and the dashboard", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({})
    await service.newTenant()
  })
  afterAll(() => service.stop())

  it("use only metrics that a process exposes", async () => {
    const { text } = await service.call("GET", "/metrics")
    const exposed = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
        type === "histogram" ? ["bucket", "sum", "count"].map((part) => `${name}_${part}`) : [name]
      )
    )
    const expressions = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    ]
    const used = expressions.flatMap((expression) => {
      const names = metricsOf(expression)
      assert.isNotEmpty(names, expression)
      return names
    })
    assert.deepStrictEqual(
      used.filter((name) => !exposed.has(name)),
      []
    )
  })
})
