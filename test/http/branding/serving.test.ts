import { createHmac } from "node:crypto"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { SignedUrls } from "../../../src/layers/infra/blobs/SignedUrls.ts"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { assertFailure, notFoundText } from "../../support/assertions/failures.ts"
import { type AssetBody, assetClient } from "../../support/fixtures/assets.ts"
import { gif, png } from "../../support/fixtures/images.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

/** Headers that differ between responses or belong to the connection. */
const volatileHeaders = ["date", "x-request-id", "connection", "keep-alive"]

const stableHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => !volatileHeaders.includes(name)))

const pathOf = ({ assetId }: AssetBody) => `/api/v1/assets/${assetId}`

describe("GET /assets/{assetId}", () => {
  const at = useFixture(() => startServiceWithTenant())
  const assets = () => assetClient(at().service, at().tenant)

  /** Requests like a browser, without a token or tenant. */
  const fetchImage = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const response = await fetch(at().service.url + path, { method, headers })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const assertHidden = async (path: string, what = path) => {
    for (const headers of [
      {},
      { authorization: `Bearer ${await at().service.token("owner")}`, "tenant-id": at().tenant }
    ]) {
      assertFailure(await sendRaw(at().service.url, { path, headers }), 404, notFoundText, what)
    }
  }
  const signed = async (fields: object = {}) => {
    const asset = await assets().createReady({ access: "SIGNED", ...fields })
    return { ...asset, url: asset.url ?? assert.fail("has no url") }
  }

  for (const [contentType, bytes] of [
    ["image/png", png({ bytes: 700_000 })],
    ["image/gif", gif]
  ] as const) {
    it(`serves a public ${contentType} to anyone, with headers that prevent its use as another type`, async () => {
      const asset = await assets().createReady({ contentType }, bytes)
      const response = await fetchImage(asset.url ?? "")
      assert.strictEqual(response.status, 200)
      assert.isTrue(response.bytes.equals(bytes))
      assert.deepStrictEqual(stableHeaders(response.headers), {
        "cache-control": "public, max-age=3600",
        "content-length": String(bytes.length),
        "content-security-policy": "default-src 'none'; sandbox",
        "content-type": contentType,
        "cross-origin-resource-policy": "cross-origin",
        etag: `"${asset.etag}"`,
        "x-content-type-options": "nosniff"
      })

      const head = await fetchImage(asset.url ?? "", {}, "HEAD")
      assert.deepStrictEqual([head.status, head.bytes.length], [200, 0])
      assert.deepStrictEqual(stableHeaders(head.headers), stableHeaders(response.headers))
    })
  }

  it("responds with 304 to a matching If-None-Match", async () => {
    const { etag, ...asset } = await assets().createReady()
    for (const etags of [`"${etag}"`, `W/"${etag}"`, `"other", "${etag}"`, "*"]) {
      const { bytes, headers, status } = await fetchImage(pathOf(asset), { "if-none-match": etags })
      assert.deepStrictEqual([status, bytes.length, headers.get("etag")], [304, 0, `"${etag}"`])
      assert.strictEqual(headers.get("cache-control"), "public, max-age=3600")
    }
    assert.strictEqual((await fetchImage(pathOf(asset), { "if-none-match": '"other"' })).status, 200)
  })

  it("serves a signed image to anyone with its signed URL, and not without", async () => {
    const bytes = png()
    const { assetId } = await assets().upload(bytes, { access: "SIGNED" })
    const completed = (await assets().complete(assetId)).body.data
    assert.match(completed.url, new RegExp(`^/api/v1/assets/${assetId}\\?expires=\\d+&signature=[\\w-]{43}$`))
    const { url } = (await assets().record(assetId)).body.data
    const listed = (await assets().call("GET", "?limit=200")).body.data
    assert.strictEqual(listed.find((asset: AssetBody) => asset.assetId === assetId).url, url)
    const response = await fetchImage(url)
    assert.strictEqual(response.status, 200)
    assert.isTrue(response.bytes.equals(bytes))
    assert.strictEqual(response.headers.get("cache-control"), "private, max-age=600")
    assert.strictEqual((await fetchImage(url, { "if-none-match": `"${completed.etag}"` })).status, 304)
    assert.strictEqual((await fetchImage(url, {}, "HEAD")).headers.get("content-length"), String(bytes.length))
    await assertHidden(pathOf(completed))
  })

  it("accepts a signed URL for at least ten and at most twenty minutes", async () => {
    const { url } = await signed()
    const seconds = Number(new URL(url, at().service.url).searchParams.get("expires")) - Date.now() / 1000
    assert.isTrue(seconds > 590 && seconds <= 1200, `${seconds} seconds`)
  })

  it("responds with 404 to every invalid signature", async () => {
    const [asset, other] = [await signed(), await signed()]
    const { searchParams } = new URL(asset.url, at().service.url)
    const [expires, signature] = [searchParams.get("expires") ?? "", searchParams.get("signature") ?? ""]
    const foreign = new URL(other.url, at().service.url).search
    const [first = ""] = signature
    const tampered = (first === "A" ? "B" : "A") + signature.slice(1)
    const forged = createHmac("sha256", "").update(`${asset.assetId}.${expires}`).digest("base64url")
    const queries: Readonly<Record<string, string>> = {
      "without a query": "",
      "without a signature": `?expires=${expires}`,
      "with an empty signature": `?expires=${expires}&signature=`,
      "without an expiry": `?signature=${signature}`,
      "with the signature of another asset": foreign,
      "with a changed signature": `?expires=${expires}&signature=${tampered}`,
      "with a signature cut short": `?expires=${expires}&signature=${signature.slice(0, -1)}`,
      "with a signature by another key": `?expires=${expires}&signature=${forged}`,
      "with a signature of invalid bytes": `?expires=${expires}&signature=%00%ff`,
      "with a later expiry": `?expires=${Number(expires) + 600}&signature=${signature}`,
      "with an earlier expiry": `?expires=${Number(expires) - 600}&signature=${signature}`,
      "with an expiry that is not a number": `?expires=soon&signature=${signature}`,
      "with an infinite expiry": `?expires=Infinity&signature=${signature}`,
      "with a token in the place of a signature": `?signature=${await at().service.token("owner")}`
    }
    for (const [what, query] of Object.entries(queries)) await assertHidden(pathOf(asset) + query, what)
    assert.strictEqual((await fetchImage(asset.url)).status, 200)
  })

  it("responds with 404 to an expired signed URL", async () => {
    const asset = await signed()
    const urls = await Effect.runPromise(
      SignedUrls.pipe(Effect.provide(SignedUrls.Default), Effect.provideService(Settings, at().service.settings))
    )
    assert.strictEqual((await fetchImage(urls.sign(asset.assetId))).status, 200)
    await assertHidden(urls.sign(asset.assetId, Date.now() - 1_200_000))
  })

  it("responds with the same 404 for an unknown, pending, failed or deleted asset", async () => {
    const pending = await assets().declare()
    const uploaded = await assets().upload(png())
    const failed = await assets().upload(gif)
    assert.strictEqual((await assets().complete(failed.assetId)).status, 400)
    const [deleted, deletedSigned] = [await assets().createReady(), await signed()]
    for (const { assetId } of [deleted, deletedSigned]) {
      assert.strictEqual((await assets().remove(assetId)).status, 204)
    }
    for (const path of [
      `/api/v1/assets/ast_${"0".repeat(26)}`,
      "/api/v1/assets/nonsense",
      `/api/v1/assets/${at().tenant}`,
      ...[pending, uploaded, failed, deleted].map(pathOf),
      deletedSigned.url
    ]) {
      await assertHidden(path)
    }
  })

  it("follows a change of access at once", async () => {
    const asset = await assets().createReady()
    const hidden = await assets().patch(asset.assetId, { access: "SIGNED" })
    await assertHidden(pathOf(asset))
    assert.strictEqual((await fetchImage(hidden.body.data.url)).status, 200)
    await assets().patch(asset.assetId, { access: "PUBLIC" })
    assert.strictEqual((await fetchImage(pathOf(asset))).status, 200)
  })

  it("responds with 404 once the tenant is deleted", async () => {
    const other = await at().service.newTenant()
    const otherAssets = assetClient(at().service, other)
    const [publicAsset, signedAsset] = [
      await otherAssets.createReady(),
      await otherAssets.createReady({ access: "SIGNED" })
    ]
    assert.strictEqual((await fetchImage(publicAsset.url ?? "")).status, 200)
    assert.strictEqual((await at().service.api("DELETE", `/tenants/${other}`, { as: "owner" })).status, 204)
    await assertHidden(publicAsset.url ?? "")
    await assertHidden(signedAsset.url ?? "")
  })

  const damages: Readonly<Record<string, string>> = {
    "with one byte changed in the last chunk":
      "update blob_chunks set bytes = set_byte(bytes, 10, get_byte(bytes, 10) # 1) where place = $1 and n = (select max(n) from blob_chunks where place = $1)",
    "with one byte changed in the first chunk":
      "update blob_chunks set bytes = set_byte(bytes, 0, get_byte(bytes, 0) # 1) where place = $1 and n = 0",
    "with a byte missing":
      "update blob_chunks set bytes = substr(bytes, 2) where place = $1 and n = (select max(n) from blob_chunks where place = $1)",
    "with a byte too many":
      "update blob_chunks set bytes = bytes || '\\x00' where place = $1 and n = (select max(n) from blob_chunks where place = $1)",
    "without its last chunk":
      "delete from blob_chunks where place = $1 and n = (select max(n) from blob_chunks where place = $1)",
    "without a chunk in the middle": "delete from blob_chunks where place = $1 and n = 1",
    "with no chunk left": "delete from blob_chunks where place = $1"
  }

  it.each(Object.entries(damages))("never serves a complete image from a store %s", async (_, damage) => {
    const asset = await assets().createReady({}, png({ bytes: 400_000 }))
    const { rows } = await at().pool.query<{ place: string }>("select place from blobs where digest = $1", [asset.etag])
    assert.strictEqual((await at().pool.query(damage, [rows[0]?.place])).rowCount !== 0, true)
    // The response is cut off unless the damage is noticed before its first byte.
    const result = await fetchImage(pathOf(asset)).then(
      ({ status }) => status,
      (error: unknown) => error
    )
    assert.isTrue(result === 500 || result instanceof TypeError, String(result))
    // Other images are not affected.
    assert.strictEqual((await fetchImage((await assets().createReady()).url ?? "")).status, 200)
  })

  it("responds with 404 for an image whose bytes were damaged before its completion", async () => {
    const { assetId } = await assets().upload(png({ bytes: 1000 }))
    await at().pool.query(
      `update blob_chunks c set bytes = set_byte(bytes, 900, get_byte(bytes, 900) # 1)
       from blobs b join assets a using (tenant_id, digest) where c.place = b.place and a.id = $1`,
      [assetId]
    )
    assert.strictEqual((await assets().complete(assetId)).status, 500)
    await assertHidden(`/api/v1/assets/${assetId}`)
    assert.strictEqual((await assets().record(assetId)).body.data.status, "PENDING")
  })
})
