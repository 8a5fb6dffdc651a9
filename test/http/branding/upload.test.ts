import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText
} from "../../support/assertions/failures.ts"
import { assetClient, maxImageBytes, minimalAsset } from "../../support/fixtures/assets.ts"
import { gif, htmlWithScript, png, svgWithScript } from "../../support/fixtures/images.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const notUploaded: ExpectedError = [
  "content",
  "required",
  "is not uploaded yet; send the image with PUT /assets/{assetId}/content first"
]
const isReady: ExpectedError = ["status", "state", "is READY, so its image cannot change; create another asset"]
const isEmpty: ExpectedError = ["body", "required", "is empty; send the bytes of the image"]
const invalidImage = (why: string): ExpectedError => ["content", "format", why]
const tooLargeText = `{"error":"PayloadTooLarge","message":"The body may have at most ${maxImageBytes} bytes"}`

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64url")

/** Bytes that do not match the declared asset, and the error. */
const invalidUploads: ReadonlyArray<readonly [what: string, fields: object, bytes: Uint8Array, why: string]> = [
  ["a GIF declared as a PNG", {}, gif, "is declared as a PNG but contains a GIF"],
  ["a PNG declared as a GIF", { contentType: "image/gif" }, png(), "is declared as a GIF but contains a PNG"],
  ["an SVG", {}, svgWithScript, "is an SVG; only PNG, JPEG, WebP and GIF are accepted"],
  ["an HTML page", {}, htmlWithScript, "is an HTML or XML document; only PNG, JPEG, WebP and GIF are accepted"],
  [
    "a PNG of fewer bytes than declared",
    { sizeBytes: 101 },
    png({ bytes: 100 }),
    "has 100 bytes and was declared to have 101"
  ],
  [
    "a PNG of more bytes than declared",
    { sizeBytes: 100 },
    png({ bytes: 101 }),
    "has 101 bytes and was declared to have 100"
  ],
  ["half a PNG", {}, png({ bytes: 1000 }).subarray(0, 500), "is incomplete: it ends after 500 bytes"],
  [
    "a PNG and a script",
    {},
    Buffer.concat([png(), htmlWithScript]),
    `has ${htmlWithScript.length} bytes after the end of the image`
  ],
  [
    "a PNG of too many pixels",
    {},
    png({ width: 20_000, height: 2001 }),
    "is 20000 × 2001 pixels; at most 40 megapixels are accepted"
  ]
]

describe("Uploading an image", () => {
  const at = useFixture(() => startServiceWithTenant())
  const assets = () => assetClient(at().service, at().tenant)

  const statusOf = async (id: string) => (await assets().record(id)).body.data.status
  const count = async (statement: string, ...values: ReadonlyArray<string>) => {
    const { rows } = await at().pool.query<{ count: number }>(statement, [...values])
    return rows[0]?.count
  }
  const blobsWith = (digest: string) => count("select count(*)::int from blobs where digest = $1", digest)
  const makeFailed = async (fields: object = {}) => {
    const { assetId } = await assets().upload(gif, fields)
    assert.strictEqual((await assets().complete(assetId)).status, 400)
    return assetId
  }

  /** Sends bytes with a content-length, or chunked if `body` is a list. Fails if the connection is reset. */
  const sendBytes = async (id: string, body: Uint8Array | ReadonlyArray<Uint8Array>) =>
    sendRaw(at().service.url, {
      method: "PUT",
      path: `/api/v1/assets/${id}/content`,
      headers: { authorization: `Bearer ${await at().service.token("owner")}`, "tenant-id": at().tenant },
      body
    })

  it("takes a POST, a PUT of the bytes and a completion", async () => {
    const bytes = png({ width: 40, height: 30 })
    const fields = { ...minimalAsset, access: "PUBLIC", originalFileName: "logo.png", sizeBytes: bytes.length }
    const created = await assets().call("POST", "", fields)
    assert.strictEqual(created.status, 201)
    const { assetId, createdAt } = created.body.data
    assert.match(assetId, /^ast_[0-9a-z]{26}$/)
    assert.strictEqual(created.headers.get("location"), `/api/v1/assets/${assetId}/record`)
    const declared = { assetId, ...fields, source: "USER_UPLOAD", status: "PENDING", createdAt, updatedAt: createdAt }
    assert.deepStrictEqual(created.body.data, declared)
    assert.deepStrictEqual((await assets().record(assetId)).body, created.body)

    const put = await assets().put(assetId, bytes)
    assert.strictEqual(put.status, 200)
    assert.deepStrictEqual(put.body.data, { ...declared, updatedAt: put.body.data.updatedAt })

    const completed = await assets().complete(assetId)
    assert.strictEqual(completed.status, 200)
    const { updatedAt } = completed.body.data
    assert.isTrue(updatedAt >= put.body.data.updatedAt && updatedAt > createdAt)
    assert.deepStrictEqual(completed.body, {
      data: { ...declared, status: "READY", etag: digestOf(bytes), url: `/api/v1/assets/${assetId}`, updatedAt }
    })
    assert.deepStrictEqual((await assets().record(assetId)).body, completed.body)
  })

  it("requires only a kind and a content type, and sets the size", async () => {
    const bytes = png()
    const declared = await assets().declare()
    assert.doesNotHaveAnyKeys(declared, ["originalFileName", "sizeBytes", "etag", "url"])
    assert.strictEqual(declared.access, "PUBLIC")
    await assets().put(declared.assetId, bytes)
    assert.strictEqual((await assets().complete(declared.assetId)).body.data.sizeBytes, bytes.length)
  })

  it("is completed once, and repeated completions change nothing", async () => {
    const { assetId } = await assets().upload(png())
    const responses = await Promise.all(Array.from({ length: 5 }, () => assets().complete(assetId)))
    responses.push(await assets().complete(assetId))
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    assert.strictEqual(new Set(responses.map(({ text }) => text)).size, 1)
    const ready = await count(
      "select count(*)::int from events where resource_id = $1 and type = 'asset.ready'",
      assetId
    )
    assert.strictEqual(ready, 1)
  })

  it("rejects a completion before the bytes are uploaded", async () => {
    const { assetId } = await assets().declare()
    assertValidationError(await assets().complete(assetId), notUploaded)
    assert.strictEqual(await statusOf(assetId), "PENDING")
  })

  it.each(invalidUploads)(
    "fails for %s with a reason, and accepts other bytes afterwards",
    async (_, fields, bytes, why) => {
      const { assetId } = await assets().upload(bytes, fields)
      for (let times = 0; times < 2; times++) {
        assertValidationError(await assets().complete(assetId), invalidImage(why))
        const { data } = (await assets().record(assetId)).body
        assert.strictEqual(data.status, "FAILED")
        assert.doesNotHaveAnyKeys(data, ["url", "etag"])
      }
      const { contentType, sizeBytes } = (await assets().record(assetId)).body.data
      const valid = contentType === "image/gif" ? gif : png({ bytes: sizeBytes ?? 200 })
      assert.strictEqual((await assets().put(assetId, valid)).body.data.status, "PENDING")
      const completed = await assets().complete(assetId)
      assert.strictEqual(completed.status, 200)
      assert.deepInclude(completed.body.data, { status: "READY", etag: digestOf(valid), sizeBytes: valid.length })
      assert.strictEqual(await blobsWith(digestOf(bytes)), bytes === gif ? await blobsWith(digestOf(gif)) : 0)
    }
  )

  it("is FAILED after a rejected completion, and valid bytes can be completed under the same Idempotency-Key", async () => {
    const { assetId } = await assets().upload(gif)
    const key = { "idempotency-key": `complete-${assetId}` }
    assertValidationError(
      await assets().complete(assetId, key),
      invalidImage("is declared as a PNG but contains a GIF")
    )
    assert.strictEqual(await statusOf(assetId), "FAILED")
    await assets().put(assetId, png())
    const completed = await assets().complete(assetId, key)
    assert.deepStrictEqual([completed.status, completed.body?.data?.status], [200, "READY"])
    assert.isNull(completed.headers.get("idempotent-replayed"))
    const again = await assets().complete(assetId, key)
    assert.deepStrictEqual([again.text, again.headers.get("idempotent-replayed")], [completed.text, "true"])
  })

  it("rejects other bytes once the asset is READY", async () => {
    const { assetId } = await assets().createReady()
    const before = await assets().record(assetId)
    assertValidationError(await assets().put(assetId, png()), isReady)
    // The service must not reset the connection of a body that it rejects unread, with or without a content-length.
    assertValidationError(await sendBytes(assetId, png({ bytes: maxImageBytes })), isReady)
    assertValidationError(await sendBytes(assetId, [png({ bytes: maxImageBytes })]), isReady)
    assert.strictEqual((await assets().record(assetId)).text, before.text)
  })

  it("can be repeated before the completion; the last bytes count", async () => {
    const [first, last] = [png(), png()]
    const { assetId } = await assets().upload(first)
    await assets().put(assetId, last)
    assert.strictEqual((await assets().complete(assetId)).body.data.etag, digestOf(last))
    assert.strictEqual(await blobsWith(digestOf(first)), 0)
  })

  it("rejects an empty body", async () => {
    const { assetId } = await assets().declare()
    assertValidationError(await sendBytes(assetId, new Uint8Array()), isEmpty)
    assertValidationError(await sendBytes(assetId, []), isEmpty)
    assertValidationError(await assets().call("PUT", `/${assetId}/content`), isEmpty)
    assertValidationError(await assets().complete(assetId), notUploaded)
  })

  const inTwoChunks = (bytes: Uint8Array) => [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)]

  for (const [how, toBody] of [
    ["with a content-length", (bytes: Uint8Array) => bytes],
    ["chunked", inTwoChunks]
  ] as const) {
    it(`accepts ${maxImageBytes} bytes and rejects one more, ${how}`, async () => {
      const largest = png({ bytes: maxImageBytes })
      const { assetId } = await assets().declare()
      for (const size of [maxImageBytes + 1, 2 * maxImageBytes]) {
        assertFailure(await sendBytes(assetId, toBody(png({ bytes: size }))), 413, tooLargeText)
        assertValidationError(await assets().complete(assetId), notUploaded)
      }
      assert.strictEqual((await sendBytes(assetId, toBody(largest))).status, 200)
      const { body } = await assets().complete(assetId)
      assert.deepInclude(body.data, { status: "READY", sizeBytes: maxImageBytes, etag: digestOf(largest) })
      assert.strictEqual(await count("select count(*)::int from uploads where started_at > '-infinity'"), 0)
    })
  }

  it("keeps the previous bytes when a body is too large", async () => {
    const { assetId } = await assets().upload(png())
    assert.strictEqual((await sendBytes(assetId, png({ bytes: maxImageBytes + 1 }))).status, 413)
    assert.strictEqual((await assets().complete(assetId)).status, 200)
  })

  it("creates an asset that can be listed in pages, read, changed and deleted", async () => {
    const other = await at().service.newTenant()
    const otherAssets = assetClient(at().service, other)
    const created = []
    for (let n = 0; n < 5; n++)
      created.push(n % 2 === 0 ? await otherAssets.declare() : await otherAssets.createReady())
    const pages = await readPages(at().service, "/assets?limit=2", { as: "owner", tenant: other })
    assert.deepStrictEqual(
      pages.map(({ length }) => length),
      [2, 2, 1]
    )
    assert.deepStrictEqual(pages.flat() as ReadonlyArray<unknown>, created)
    const [asset = assert.fail()] = created
    const changed = await otherAssets.patch(asset.assetId, { originalFileName: "a.png", access: "SIGNED" })
    const { updatedAt } = changed.body.data
    assert.deepStrictEqual(changed.body.data, { ...asset, originalFileName: "a.png", access: "SIGNED", updatedAt })
    const cleared = await otherAssets.patch(asset.assetId, { originalFileName: null })
    assert.notProperty(cleared.body.data, "originalFileName")
    assert.deepStrictEqual((await otherAssets.record(asset.assetId)).body, cleared.body)
    assert.strictEqual((await otherAssets.remove(asset.assetId)).status, 204)
    for (const response of [
      await otherAssets.record(asset.assetId),
      await otherAssets.patch(asset.assetId, { access: "PUBLIC" }),
      await otherAssets.put(asset.assetId, png()),
      await otherAssets.complete(asset.assetId),
      await otherAssets.remove(asset.assetId)
    ]) {
      assertFailure(response, 404, notFoundText)
    }
  })

  it("allows changes of access and file name only", async () => {
    const { assetId } = await assets().declare()
    const before = await assets().record(assetId)
    const fixed = { kind: "BRANDING_BACKGROUND", contentType: "image/gif", sizeBytes: 1, status: "READY", etag: "e" }
    for (const [field, value] of Object.entries({ ...fixed, source: "GENERATED", url: "/", assetId: "ast_a" })) {
      assertValidationError(await assets().patch(assetId, { [field]: value }), [
        field,
        "unknown",
        "is not a known property"
      ])
    }
    assertValidationError(await assets().patch(assetId, { access: null }), [
      "access",
      "enum",
      "must be one of PUBLIC, SIGNED"
    ])
    assert.strictEqual((await assets().record(assetId)).text, before.text)
  })

  for (const access of ["PUBLIC", "SIGNED"]) {
    it(`honours If-Match on the record, bytes, completion and deletion of a ${access} asset`, async () => {
      const stale = { "if-match": '"stale"' }
      const { assetId } = await assets().declare({ access })
      const fresh = async () => ({ "if-match": (await assets().record(assetId)).headers.get("etag") ?? "" })
      assert.strictEqual((await assets().put(assetId, png(), stale)).status, 412)
      assert.strictEqual((await assets().put(assetId, png(), await fresh())).status, 200)
      assert.strictEqual((await assets().complete(assetId, stale)).status, 412)
      assert.strictEqual((await assets().complete(assetId, await fresh())).status, 200)
      assert.strictEqual((await assets().patch(assetId, { originalFileName: "a" }, stale)).status, 412)
      assert.strictEqual((await assets().patch(assetId, { originalFileName: "a" }, await fresh())).status, 200)
      assert.strictEqual((await assets().remove(assetId, stale)).status, 412)
      assert.strictEqual((await assets().remove(assetId, await fresh())).status, 204)
    })
  }

  it("stores equal bytes once for each tenant, and deletes them with their last asset", async () => {
    const bytes = png({ bytes: 300_000 })
    const digest = digestOf(bytes)
    const otherAssets = assetClient(at().service, await at().service.newTenant())
    const countChunks = () =>
      count("select count(*)::int from blob_chunks c join blobs b on b.place = c.place where b.digest = $1", digest)
    const first = await assets().createReady({}, bytes)
    const chunkCount = (await countChunks()) ?? 0
    assert.isAbove(chunkCount, 1)
    const [second, foreign] = [await assets().createReady({}, bytes), await otherAssets.createReady({}, bytes)]
    assert.deepStrictEqual([await blobsWith(digest), await countChunks()], [2, 2 * chunkCount])

    assert.strictEqual((await assets().remove(first.assetId)).status, 204)
    assert.deepStrictEqual([await blobsWith(digest), await countChunks()], [2, 2 * chunkCount])
    assert.strictEqual((await at().service.call("GET", second.url ?? "")).status, 200)

    assert.strictEqual((await assets().remove(second.assetId)).status, 204)
    assert.deepStrictEqual([await blobsWith(digest), await countChunks()], [1, chunkCount])
    assert.strictEqual((await at().service.call("GET", second.url ?? "")).status, 404)
    assert.strictEqual((await at().service.call("GET", foreign.url ?? "")).status, 200)
  })

  it("succeeds while the last asset with the same bytes is deleted", async () => {
    for (let round = 0; round < 5; round++) {
      const bytes = png()
      const { assetId: old } = await assets().createReady({}, bytes)
      const { assetId } = await assets().declare()
      const [put, removed] = await Promise.all([assets().put(assetId, bytes), assets().remove(old)])
      assert.deepStrictEqual([put.status, removed.status], [200, 204], put.text)
      assert.strictEqual((await assets().complete(assetId)).status, 200)
      assert.strictEqual((await at().service.call("GET", `/api/v1/assets/${assetId}`)).status, 200)
    }
  })

  it("responds with 404 in another tenant", async () => {
    const stranger = assetClient(at().service, await at().service.newTenant("stranger"), "stranger")
    const { assetId } = await assets().createReady()
    for (const id of [assetId, await makeFailed(), (await assets().declare()).assetId]) {
      const before = await assets().record(id)
      for (const response of [
        await stranger.record(id),
        await stranger.patch(id, { access: "PUBLIC" }),
        await stranger.put(id, png()),
        await stranger.complete(id),
        await stranger.remove(id)
      ]) {
        assertFailure(response, 404, notFoundText)
      }
      assert.strictEqual((await assets().record(id)).text, before.text)
    }
    assert.deepStrictEqual((await stranger.call("GET", "")).body.data, [])
  })
})
