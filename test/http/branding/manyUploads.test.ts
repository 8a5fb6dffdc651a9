import { createHash, randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { maxImageBytes, minimalAsset } from "../../support/fixtures/assets.ts"
import { pngAround } from "../../support/fixtures/images.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"

const count = 200

const mebibyte = 1024 * 1024

/** What the process has of the machine's memory now, or has had at most, in bytes. */
const memoryOf = async (pid: number, measure: "VmRSS" | "VmHWM") => {
  const status = await readFile(`/proc/${pid}/status`, "utf8")
  return Number(new RegExp(`^${measure}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024
}

/** Does the work for every item, so many at a time. */
const inLines = async <A>(items: ReadonlyArray<A>, lines: number, work: (item: A) => Promise<void>) => {
  const queue = items.values()
  const line = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: lines }, line))
}

describe("many uploads at once", () => {
  let processes: ApiProcesses
  beforeAll(async () => {
    await bundleApi()
    processes = await prepareApiProcesses()
  })
  afterAll(() => processes.clear())

  /** The service in a process of its own, and requests in a tenant of it. */
  const start = async () => {
    const { pid = assert.fail("has no process"), url } = await processes.start()
    const authorization = `Bearer ${await processes.token("owner")}`
    const ask = async (method: string, path: string, body?: object, tenant?: string) => {
      const answer = await sendRaw(url, {
        method,
        path: `/api/v1${path}`,
        headers: {
          authorization,
          ...(tenant === undefined ? {} : { "tenant-id": tenant }),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      assert.isBelow(answer.status, 300, answer.text)
      return JSON.parse(answer.text).data
    }
    const tenant: string = (await ask("POST", "/tenants", { name: "Tenant" })).id
    const put = (id: string, body: ReadonlyArray<Uint8Array>) =>
      sendRaw(url, {
        method: "PUT",
        path: `/api/v1/assets/${id}/content`,
        headers: { authorization, "tenant-id": tenant },
        body
      })
    return { pid, put, ask: (method: string, path: string, body?: object) => ask(method, path, body, tenant) }
  }

  it.skipIf(process.platform !== "linux")(
    "are all kept, in little memory",
    { timeout: 240_000 },
    async ({ annotate }) => {
      const { ask, pid, put } = await start()
      const filling = randomBytes(maxImageBytes - 200)
      const images: Array<{ readonly id: string; readonly parts: ReadonlyArray<Buffer> }> = []
      for (let n = 0; n < count; n++) {
        images.push({ id: (await ask("POST", "/assets", minimalAsset)).assetId, parts: pngAround(filling) })
      }
      const before = await memoryOf(pid, "VmRSS")
      const answers = await Promise.all(images.map(({ id, parts }) => put(id, parts)))
      const grown = (await memoryOf(pid, "VmHWM")) - before
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))

      await inLines(images, 4, async ({ id, parts }) => {
        const hash = createHash("sha256")
        for (const part of parts) hash.update(part)
        const asset = await ask("POST", `/assets/${id}/complete`)
        assert.strictEqual(asset.etag, hash.digest("base64url"))
        assert.strictEqual(
          asset.sizeBytes,
          parts.reduce((sum, { length }) => sum + length, 0)
        )
      })
      const told = `from ${Math.round(before / mebibyte)} MiB by ${Math.round(grown / mebibyte)} MiB at most`
      await annotate(`The process grew ${told}`)
      // Kept whole in memory, they would take all of their bytes. How much of it the heap takes depends on Node's version.
      assert.isBelow(grown, (count * maxImageBytes) / 4, told)
    }
  )
})
