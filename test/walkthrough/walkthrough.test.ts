import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { projectRoot } from "../../src/layers/local/ProjectRoot.ts"
import { readPdf, rowsOf } from "../support/assertions/pdfText.ts"

const shownInReadme = readFileSync(join(projectRoot, "README.md"), "utf8")
  .split("```\n")
  .find((block) => block.startsWith("✓ service"))

/** Lines that differ from run to run in nothing but identifiers, sizes, ports and times. */
const inGeneral = (lines: string) =>
  lines
    .replaceAll(/_\w+…?/g, "_…")
    .replaceAll(/:\d+/g, ":…")
    .replaceAll(/[\d.]+ s\)/g, "… s)")
    .replaceAll(/\d+ bytes/g, "… bytes")
    .replaceAll(/INV-\d+/g, "INV-…")

const script = join(projectRoot, "scripts", "walkthrough.mjs")

const runWith = (...args: ReadonlyArray<string>) => promisify(execFile)(process.execPath, [script, ...args])

describe("the walk-through", { timeout: 240_000 }, () => {
  let folder: string
  let stdout: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "contracting-out-"))
    stdout = (await runWith("--out", folder)).stdout
  }, 240_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const webhook = () => JSON.parse(readFileSync(join(folder, "webhook.json"), "utf8"))

  it("says what the README shows, and where it left what arrived", () => {
    const [steps = "", ending] = stdout.split("\n\n")
    assert.strictEqual(inGeneral(`${steps}\n`), inGeneral(shownInReadme ?? ""))
    assert.match(ending ?? "", /^Done in \d+ s\. Look at \S+INV-\d+-000001\.pdf\n/)
    assert.match(readdirSync(folder).join(), /^INV-\d+-000001\.pdf,webhook\.json$/)
  })

  it("leaves an invoice with the tenant's logo, the client and a line for the issue", async () => {
    const { data } = JSON.parse(webhook().body)
    const file = readFileSync(join(folder, `${data.invoiceNumber}.pdf`))
    const { pages } = await readPdf(new Uint8Array(file))
    const rows = pages.flatMap(rowsOf).map((row) => row.join(" "))
    for (const words of [data.invoiceNumber, "Harbour Works", "Northwind", "NORTH-318: Replace the pump controller"])
      assert.isTrue(
        rows.some((row) => row.includes(words)),
        `${words} in ${rows.join("\n")}`
      )
    assert.isTrue(rows.some((row) => /180[.,]00/.test(row)))
    const image =
      file
        .toString("latin1")
        .match(/\/Subtype \/Image.*?stream/gs)
        ?.join() ?? ""
    assert.match(image, /\/Width 360\b/)
    assert.match(image, /\/Height 120\b/)
  })

  it("leaves a webhook whose signature is that of the integration's secret", () => {
    const { body, headers, secret } = webhook()
    new Webhook(secret).verify(body, headers)
    assert.throws(() => new Webhook(secret).verify(body.replace("FINALIZED", "PAID"), headers))
    assert.deepInclude(JSON.parse(body), { type: "invoice.finalized", id: headers["webhook-id"] })
    assert.deepInclude(JSON.parse(body).data, { status: "FINALIZED", totalMinor: 18_000 })
  })

  it("says how it is used, and what it does not know", async () => {
    assert.include((await runWith("--help")).stdout, "--out <folder>")
    const failure = await runWith("--fast").then(
      () => assert.fail("it ran"),
      (error: unknown) => error
    )
    assert.deepInclude(failure, { code: 1, stdout: "" })
    assert.match(String(failure), /--fast.*--out <folder>/s)
  })

  it("ends all it started when it is stopped, and leaves nothing behind", async () => {
    const temporary = join(folder, "temporary")
    mkdirSync(temporary)
    const child = spawn(process.execPath, [script, "--out", folder], { env: { ...process.env, TMPDIR: temporary } })
    let complaint = ""
    child.stderr.on("data", (words) => (complaint += words))
    child.stdout.on("data", (words) => String(words).includes("✓ service") && child.kill("SIGINT"))
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 1)
    assert.include(complaint, "Stopped before the end")
    assert.isEmpty(readdirSync(temporary))
  })
})
