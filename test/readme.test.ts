import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { settingRows } from "../src/help.ts"
import { type Service, startService } from "./support/service.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const between = (name: string) => readme.split(`<!-- ${name} -->\n`)[1]?.split(`<!-- /${name} -->`)[0]

const shellUnder = (heading: string) =>
  readme.split(`## ${heading}\n`)[1]?.split("\n## ")[0]?.split("```sh\n")[1]?.split("```")[0] ?? ""

const run = promisify(execFile)

describe("the README", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  it("lists every setting with its default", () => {
    const table = [
      "| setting | unless set | meaning |",
      "|---|---|---|",
      ...settingRows.map(({ description, fallback, name }) => {
        return `| \`${name}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${description} |`
      }),
      ""
    ].join("\n")
    assert.strictEqual(between("settings"), table)
  })

  it("shows a first five minutes that work when copied", async () => {
    const pdf = join(service.dataDir, "invoice.pdf")
    const script = shellUnder("The first five minutes")
      .replaceAll("http://localhost:3000", service.url)
      .replaceAll("/tmp/invoice.pdf", pdf)
    const env = { ...process.env, DATA_DIR: service.dataDir }
    const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], {
      env,
      cwd: new URL("..", import.meta.url)
    })
    const answers = stdout
      .replaceAll("}{", "}\n{")
      .split("\n")
      .map((line) => JSON.parse(line))
    const [changed, list, first, again, faults, member, lines, invoice, explained] = answers
    assert.deepInclude(changed.data, { name: "Northwind", order: 1, description: "Pumps and valves" })
    assert.deepStrictEqual(list.data, [changed.data])
    assert.strictEqual(first.data.name, "Southwind")
    assert.deepStrictEqual(again, first)
    assert.sameMembers(
      faults.details.map(({ field }: { field: string }) => field),
      ["name", "order", "colour"]
    )
    assert.deepInclude(member.data, { subject: "bob", role: "MEMBER" })
    assert.deepStrictEqual(
      lines.data.map(({ lineTotalMinor }: { lineTotalMinor: number }) => lineTotalMinor),
      [22_000, 7980]
    )
    assert.deepInclude(invoice.data, { status: "FINALIZED", totalMinor: 29_980 })
    assert.strictEqual(explained.data.lines[1].runningTotalMinor, 29_980)
    assert.strictEqual(readFileSync(pdf, "latin1").slice(0, 5), "%PDF-")
    assert.strictEqual(answers.length, 9)
  })
})
