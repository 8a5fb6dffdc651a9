import { createHash, randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { maxImageBytes, minimalAsset } from "../../support/fixtures/assets.ts"
import { pngAround } from "../../support/fixtures/images.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"

const count = 64

const mebibyte = 1024 * 1024

/** Current (VmRSS) or peak (VmHWM) resident memory of a process in bytes. */
const memoryOf = async (pid: number, measure: "VmRSS" | "VmHWM") => {
  const status = await readFile(`/proc/${pid}/status`, "utf8")
  return Number(new RegExp(`^${measure}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024
}

const digestOf = (parts: ReadonlyArray<Buffer>) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest("base64url")
}

describe("PUT /assets/{assetId}/content", () => {
  let processes: ApiProcesses
  beforeAll(async () => {
    await bundleApi()
    processes = await prepareApiProcesses()
  })
  afterAll(() => processes.stopAll())

  /** The API in its own process, and requests in one tenant. */
  const startApi = async () => {
    const { pid = assert.fail("the API has no process id"), url } = await processes.start()
    const authorization = `Bearer ${await processes.token("owner")}`
    const call = async (method: string, path: string, body?: object, tenant?: string) => {
      const { status, text } = await sendRaw(url, {
        method,
        path: `/api/v1${path}`,
        headers: {
          authorization,
          ...(tenant === undefined ? {} : { "tenant-id": tenant }),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      assert.isBelow(status, 300, text)
      return JSON.parse(text).data
    }
    const tenant: string = (await call("POST", "/tenants", { name: "Tenant" })).id
    const put = (id: string, body: ReadonlyArray<Uint8Array>) =>
      sendRaw(url, {
        method: "PUT",
        path: `/api/v1/assets/${id}/content`,
        headers: { authorization, "tenant-id": tenant },
        body
      })
    return { pid, put, call: (method: string, path: string, body?: object) => call(method, path, body, tenant) }
  }

  /** The digest of the stored bytes of each asset, computed by the database. */
  const readDigests = async () => {
    const pool = openPool(processes.database.url)
    const { rows } = await pool.query<{ id: string; digest: Buffer }>(
      `select a.id, sha256(string_agg(c.bytes, '' order by c.n)) as digest
       from assets a join blobs b using (tenant_id, digest) join blob_chunks c using (tenant_id, place) group by a.id`
    )
    await pool.end()
    return new Map(rows.map(({ digest, id }) => [id, digest.toString("base64url")]))
  }

  it.skipIf(process.platform !== "linux")(
    "stores many concurrent uploads without keeping them in memory",
    { timeout: 240_000 },
    async ({ annotate }) => {
      const { call, pid, put } = await startApi()
      const filling = randomBytes(maxImageBytes - 200)
      const images: Array<{ id: string; parts: ReadonlyArray<Buffer> }> = []
      while (images.length < count) {
        const { assetId } = await call("POST", "/assets", minimalAsset)
        images.push({ id: assetId, parts: pngAround(filling) })
      }
      const digests = new Map(images.map(({ id, parts }) => [id, digestOf(parts)]))
      const [first = assert.fail(), ...others] = images
      assert.strictEqual((await put(first.id, first.parts)).status, 200)
      assert.strictEqual((await call("POST", `/assets/${first.id}/complete`)).etag, digests.get(first.id))

      const before = await memoryOf(pid, "VmRSS")
      const responses = await Promise.all(others.map(({ id, parts }) => put(id, parts)))
      const growth = (await memoryOf(pid, "VmHWM")) - before
      assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
      assert.deepStrictEqual(await readDigests(), digests)
      const summary = `from ${Math.round(before / mebibyte)} MiB by at most ${Math.round(growth / mebibyte)} MiB`
      await annotate(`The process grew ${summary}`)
      // Buffering whole uploads would take all of their bytes. The size of the heap depends on the version of Node.js.
      assert.isBelow(growth, (others.length * maxImageBytes) / 4, summary)
    }
  )
})
