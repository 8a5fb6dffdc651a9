import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { extractXml } from "@stackforge-eu/factur-x"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { blocksOf, sectionOf } from "../../support/assertions/docs.ts"
import { readPdf, rowsOf } from "../../support/assertions/pdfText.ts"

const [documentedOutput = ""] = blocksOf(sectionOf("docs/jira.md", "Try it without an account"), "text")

/** Replaces identifiers, sizes, ports and times, which differ between runs. */
const normalize = (lines: string) =>
  lines
    .replaceAll(/_\w+…?/g, "_…")
    .replaceAll(/:\d+/g, ":…")
    .replaceAll(/[\d.]+ s\)/g, "… s)")
    .replaceAll(/\d+ bytes/g, "… bytes")
    .replaceAll(/INV-\d+/g, "INV-…")

const script = join(projectRoot, "scripts", "tool.mjs")

const runScript = (...args: ReadonlyArray<string>) =>
  promisify(execFile)(process.execPath, [script, "walkthrough", ...args])

describe("npm run walkthrough", { timeout: 240_000 }, () => {
  let folder: string
  let stdout: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "contracting-out-"))
    stdout = (await runScript("--out", folder)).stdout
  }, 240_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const webhook = () => JSON.parse(readFileSync(join(folder, "webhook.json"), "utf8"))

  it("prints the output of docs/jira.md and the path of the PDF", () => {
    const [steps = "", ending] = stdout.split("\n\n")
    assert.strictEqual(normalize(`${steps}\n`), normalize(documentedOutput))
    assert.match(ending ?? "", /^Done in \d+ s\. Look at \S+INV-\d+-000001\.pdf\n/)
    assert.match(readdirSync(folder).join(), /^INV-\d+-000001\.pdf,webhook\.json$/)
  })

  it("writes an invoice PDF with the logo, the client and a line for the issue", async () => {
    const { data } = JSON.parse(webhook().body)
    const file = readFileSync(join(folder, `${data.invoiceNumber}.pdf`))
    const { pages } = await readPdf(new Uint8Array(file))
    const rows = pages.flatMap(rowsOf).map((row) => row.join(" "))
    for (const words of [data.invoiceNumber, "Harbour Works", "Northwind", "NORTH-318: Replace the pump controller"])
      assert.isTrue(
        rows.some((row) => row.includes(words)),
        `${words} in ${rows.join("\n")}`
      )
    for (const amount of ["180.00", "34.20", "214.20"])
      assert.isTrue(
        rows.some((row) => row.includes(amount)),
        `${amount} in ${rows.join("\n")}`
      )
    const xml = await extractXml(file)
    assert.include(xml.xml, "<ram:GrandTotalAmount>214.20</ram:GrandTotalAmount>")
    const image =
      file
        .toString("latin1")
        .match(/\/Subtype \/Image.*?stream/gs)
        ?.join() ?? ""
    assert.match(image, /\/Width 360\b/)
    assert.match(image, /\/Height 120\b/)
  })

  it("writes a webhook that the secret of the integration verifies", () => {
    const { body, headers, secret } = webhook()
    new Webhook(secret).verify(body, headers)
    assert.throws(() => new Webhook(secret).verify(body.replace("FINALIZED", "PAID"), headers))
    assert.deepInclude(JSON.parse(body), { type: "invoice.finalized", id: headers["webhook-id"] })
    assert.deepInclude(JSON.parse(body).data, { status: "FINALIZED", totalMinor: 21_420 })
  })

  it("prints its usage and rejects an unknown option", async () => {
    assert.include((await runScript("--help")).stdout, "--out <folder>")
    const failure = await runScript("--fast").then(
      () => assert.fail("the script succeeded"),
      (error: unknown) => error
    )
    assert.deepInclude(failure, { code: 1, stdout: "" })
    assert.match(String(failure), /--fast.*--out <folder>/s)
  })

  it("removes its temporary files when SIGINT stops it", async () => {
    const temporary = join(folder, "temporary")
    mkdirSync(temporary)
    const child = spawn(process.execPath, [script, "walkthrough", "--out", folder], {
      env: { ...process.env, TMPDIR: temporary }
    })
    let stderr = ""
    child.stderr.on("data", (chunk) => (stderr += chunk))
    child.stdout.on("data", (chunk) => String(chunk).includes("✓ service") && child.kill("SIGINT"))
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 1)
    assert.include(stderr, "Stopped before the end")
    assert.isEmpty(readdirSync(temporary))
  })
})
