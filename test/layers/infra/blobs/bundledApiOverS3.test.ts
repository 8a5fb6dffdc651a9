import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { randomPng } from "../../../support/fixtures/randomPng.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../../support/servers/apiProcesses.ts"
import { type S3, startS3 } from "../../../support/servers/s3.ts"

describe("The bundled API with BLOB_STORE_BUCKET", () => {
  let s3: S3
  let processes: ApiProcesses
  beforeAll(async () => {
    s3 = await startS3()
    await bundleApi()
    processes = await prepareApiProcesses(s3.settings)
  })
  afterAll(async () => {
    await processes.stopAll()
    await s3.stop()
  })

  it("stores an uploaded image in S3", async () => {
    const { url } = await processes.start()
    const headers = { authorization: `Bearer ${await processes.token("owner")}`, "content-type": "application/json" }
    const send = async (method: string, path: string, body: string | Uint8Array, more = {}) => {
      const response = await fetch(`${url}/api/v1${path}`, { method, body, headers: { ...headers, ...more } })
      assert.include([200, 201], response.status)
      return JSON.parse(await response.text()).data
    }
    const tenant = { "tenant-id": (await send("POST", "/tenants", `{"name":"Tenant"}`)).id }
    const declaration = `{"kind":"BRANDING_LOGO","contentType":"image/png"}`
    const { assetId } = await send("POST", "/assets", declaration, tenant)
    await send("PUT", `/assets/${assetId}/content`, randomPng(500_000), tenant)
    assert.strictEqual((await send("POST", `/assets/${assetId}/complete`, "", tenant)).status, "READY")
    assert.strictEqual(s3.keys().length, 1)
  })
})
