import sharp from "sharp"
import { assert, beforeAll, describe, it } from "vitest"
import { prepareImages } from "../../../src/layers/infra/pdf/drawing/DrawableImages.ts"
import { type ResourceBody, resourceMaker } from "../../support/fixtures/resources.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { Service } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const formats = ["png", "jpeg", "webp", "gif"] as const
type Format = (typeof formats)[number]

const imageOf = (format: Format, background: string, size = { width: 300, height: 120 }) =>
  sharp({ create: { ...size, channels: 3, background } })
    [format]()
    .toBuffer()

describe("The branding of an invoice", () => {
  const fixture = useFixture(startServiceWithPool)
  let service: Service
  let tenant: string
  let client: ResourceBody
  let contract: ResourceBody
  beforeAll(() => {
    service = fixture().service
  })

  const send = async (method: string, path: string, body?: object) => {
    const response = await service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
    assert.isBelow(response.status, 300, response.text)
    return response
  }

  const createAsset = async (format: Format, kind: string, bytes: Uint8Array) => {
    const created = await send("POST", "/assets", { kind, contentType: `image/${format}` })
    const { assetId } = created.body.data
    await fetch(`${service.url}/api/v1/assets/${assetId}/content`, {
      method: "PUT",
      headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant },
      body: bytes
    })
    await send("POST", `/assets/${assetId}/complete`)
    return String(assetId)
  }

  const createTenant = async () => {
    tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    client = await make("clients")
    contract = await make("contracts", { clientId: client.id, status: "ACTIVE" })
  }

  const createDraft = async () => {
    const { body } = await send("POST", "/invoices", { contractId: contract.id })
    const invoiceId = String(body.data.id)
    await send("POST", "/billables", { invoiceId, billables: [{ name: "Inspection", amountMinor: 12_500 }] })
    return invoiceId
  }

  const pdfOf = async (invoiceId: string) => {
    const response = await fetch(`${service.url}/api/v1/invoices/${invoiceId}/pdf`, {
      headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant }
    })
    assert.strictEqual(response.status, 200)
    return Buffer.from(await response.arrayBuffer())
  }
  const imagesIn = (pdf: Buffer) => pdf.toString("latin1").match(/\/Subtype \/Image/g)?.length ?? 0

  for (const format of formats) {
    it(`shows a logo and a background from ${format} files`, async () => {
      await createTenant()
      const plain = imagesIn(await pdfOf(await createDraft()))
      const logo = await createAsset(format, "BRANDING_LOGO", await imageOf(format, "#1f6f54"))
      const background = await createAsset(format, "BRANDING_BACKGROUND", await imageOf(format, "#d8e6f2"))
      await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: logo })
      await send("PUT", `/clients/${client.id}/media/logo`, { assetId: logo })
      await send("PUT", `/tenants/${tenant}/media/paper`, { assetId: background })
      const branded = imagesIn(await pdfOf(await createDraft()))
      assert.isAtLeast(branded - plain, 3)
    })
  }

  it("does not change after the invoice is finalized", async () => {
    await createTenant()
    const logo = await createAsset("png", "BRANDING_LOGO", await imageOf("png", "#1f6f54"))
    await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: logo })
    const invoice = await createDraft()
    await send("POST", `/invoices/${invoice}/finalize`)
    const issued = await pdfOf(invoice)
    const other = await createAsset("jpeg", "BRANDING_LOGO", await imageOf("jpeg", "#a03030"))
    await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: other })
    await send("DELETE", `/assets/${logo}`)
    assert.isTrue(issued.equals(await pdfOf(invoice)))
    await send("DELETE", `/tenants/${tenant}/media/logo`)
    assert.isTrue(issued.equals(await pdfOf(invoice)))
    assert.isBelow(imagesIn(await pdfOf(await createDraft())), imagesIn(issued))
  })

  it("omits an image that is deleted while the invoice is finalized", async () => {
    await createTenant()
    const plain = imagesIn(await pdfOf(await createDraft()))
    const logo = await createAsset("png", "BRANDING_LOGO", await imageOf("png", "#123456"))
    await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: logo })
    const invoice = await createDraft()
    const lock = await lockRow(fixture().pool, "delete from attachments where tenant_id = $1", tenant)
    await lock.runInTransaction("update tenants set media = '[]' where id = $1", tenant)
    await lock.runInTransaction("delete from assets where tenant_id = $1", tenant)
    await lock.runInTransaction("delete from blobs where tenant_id = $1", tenant)
    const finalizing = send("POST", `/invoices/${invoice}/finalize`)
    try {
      await lock.untilWaiting(1)
    } finally {
      await lock.release()
    }
    assert.strictEqual((await finalizing).body.data.status, "FINALIZED")
    assert.strictEqual(imagesIn(await pdfOf(invoice)), plain)
  })

  it("uses the first image of each kind and prefers the background of the client", async () => {
    await createTenant()
    const asset = async (kind: string, colour: string) => createAsset("png", kind, await imageOf("png", colour))
    const invoice = await createDraft()
    const pdfs: Array<Buffer> = []
    for (const [method, path, body] of [
      ["PUT", `/tenants/${tenant}/media/a`, { assetId: await asset("BRANDING_LOGO", "#eeeeee"), order: 2 }],
      ["PUT", `/tenants/${tenant}/media/b`, { assetId: await asset("BRANDING_LOGO", "#111111"), order: 1 }],
      ["DELETE", `/tenants/${tenant}/media/a`],
      ["PUT", `/tenants/${tenant}/media/c`, { assetId: await asset("BRANDING_BACKGROUND", "#00ff00") }],
      ["PUT", `/clients/${client.id}/media/c`, { assetId: await asset("BRANDING_BACKGROUND", "#0000ff") }],
      ["DELETE", `/tenants/${tenant}/media/c`]
    ] as const) {
      await send(method, path, body)
      pdfs.push(await pdfOf(invoice))
    }
    const same = (a: number, b: number) => pdfs[a]?.equals(pdfs[b] ?? Buffer.of())
    assert.deepStrictEqual(
      [same(0, 1), same(1, 2), same(2, 3), same(3, 4), same(4, 5)],
      [false, true, false, false, true]
    )
  })

  it("omits a damaged image and scales down a large one", async () => {
    const whole = await imageOf("png", "#1f6f54", { width: 4000, height: 1000 })
    const { "tenant-logo": logo, "client-logo": damaged } = await prepareImages({
      "tenant-logo": whole,
      "client-logo": whole.subarray(0, whole.length / 2)
    })
    assert.isUndefined(damaged)
    const { height, width } = await sharp(logo).metadata()
    assert.deepStrictEqual({ width, height }, { width: 720, height: 180 })
  })
})
