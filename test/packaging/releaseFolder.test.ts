import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { writeRelease } from "../../scripts/releaseFolder.mjs"
import { randomPng } from "../support/fixtures/randomPng.ts"
import { type ApiProcesses, prepareApiProcesses } from "../support/servers/apiProcesses.ts"
import { freshDatabase } from "../support/servers/database.ts"
import { type S3, startS3 } from "../support/servers/s3.ts"

const packagesIn = (folder: string) =>
  readdirSync(folder).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(folder, name)).map((scoped) => `${name}/${scoped}`) : [name]
  )

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(folder, name)).isFile())

describe("A release", () => {
  // Outside of the project, whose packages it would find otherwise.
  const folder = mkdtempSync(join(tmpdir(), "contracting-release-"))
  const program = join(folder, "dist", "main.js")
  let s3: S3
  let processes: ApiProcesses
  beforeAll(async () => {
    await writeRelease(folder)
    s3 = await startS3()
    processes = await prepareApiProcesses(s3.settings, program)
  })
  afterAll(async () => {
    await processes.stopAll()
    await s3.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)(process.execPath, [program, ...args], { cwd: folder, env })

  it("has only the packages that are not part of the program", () => {
    const isOfPlatform = (name: string) => name.startsWith("@img/sharp-")
    assert.sameMembers(
      packagesIn(join(folder, "node_modules")).filter((name) => !isOfPlatform(name)),
      ["@aws-sdk/client-s3", "@img/colour", "detect-libc", "semver", "sharp"]
    )
  })

  it("has at most 40 MB and no source maps", () => {
    const files = filesIn(folder)
    const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    assert.isAtMost(bytes, 40_000_000)
    assert.deepStrictEqual(
      files.filter((name) => /^dist\/.*\.map$/.test(name)),
      []
    )
  })

  it("migrates an empty database", async () => {
    const database = await freshDatabase()
    try {
      const { stdout } = await run(["migrate"], { DATABASE_URL: database.url })
      const count = readdirSync(join(folder, "dist", "migrations")).length
      assert.strictEqual(stdout.trim().split("\n").at(-1), `Applied ${count}.`)
    } finally {
      await database.drop()
    }
  })

  it("serves the documentation and the console, stores an image in S3 and renders the PDF of an invoice", async () => {
    const { url } = await processes.start()
    assert.strictEqual((await fetch(`${url}/readyz`)).status, 200)
    assert.strictEqual((await fetch(`${url}/docs`)).status, 200)
    const page = await (await fetch(`${url}/console`)).text()
    const [, script = ""] = page.match(/<script type="module" src="([^"]+)"/) ?? []
    assert.strictEqual((await fetch(url + script)).status, 200)

    const authorization = `Bearer ${await processes.token("owner")}`
    const send = async (method: string, path: string, body: object | Uint8Array, tenant?: string) => {
      const isFile = body instanceof Uint8Array
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          authorization,
          "content-type": isFile ? "application/octet-stream" : "application/json",
          ...(tenant === undefined ? {} : { "tenant-id": tenant })
        },
        body: isFile ? body : JSON.stringify(body)
      })
      const text = await response.text()
      assert.include([200, 201], response.status, text)
      return JSON.parse(text).data
    }
    const { id: tenant } = await send("POST", "/tenants", { name: "Tenant" })
    const { assetId } = await send("POST", "/assets", { kind: "BRANDING_LOGO", contentType: "image/png" }, tenant)
    await send("PUT", `/assets/${assetId}/content`, randomPng(10_000), tenant)
    assert.strictEqual((await send("POST", `/assets/${assetId}/complete`, {}, tenant)).status, "READY")
    assert.lengthOf(s3.keys(), 1)

    const client = await send("POST", "/clients", { name: "Client" }, tenant)
    const contract = await send(
      "POST",
      "/contracts",
      { clientId: client.id, name: "Contract", currencyCode: "EUR", status: "ACTIVE" },
      tenant
    )
    const invoice = await send("POST", "/invoices", { contractId: contract.id }, tenant)
    const pdf = await fetch(`${url}/api/v1/invoices/${invoice.id}/pdf`, {
      headers: { authorization, "tenant-id": tenant }
    })
    assert.strictEqual(pdf.status, 200)
    assert.strictEqual(Buffer.from(await pdf.arrayBuffer()).toString("latin1", 0, 5), "%PDF-")
  })

  it("lacks the command that starts everything on this machine", async () => {
    const error = await run(["up"]).then(
      () => assert.fail("it has no such command"),
      (error: { readonly code: number; readonly stderr: string }) => error
    )
    assert.strictEqual(error.code, 1)
    assert.include(error.stderr, `"up" is not a command`)
  })

  it("has the version of the project", () => {
    const versionIn = (path: string) => JSON.parse(readFileSync(path, "utf8")).version
    assert.strictEqual(versionIn(join(folder, "package.json")), versionIn("package.json"))
  })
})
