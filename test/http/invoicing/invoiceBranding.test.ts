import sharp from "sharp"
import { assert, beforeAll, describe, it } from "vitest"
import { prepareImages } from "../../../src/layers/pdf/drawing/DrawableImages.ts"
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

describe("an invoice's branding", () => {
  const at = useFixture(startServiceWithPool)
  let service: Service
  let tenant: string
  let client: ResourceBody
  let contract: ResourceBody
  beforeAll(() => {
    service = at().service
  })

  const send = async (method: string, path: string, body?: object) => {
    const answer = await service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
    assert.isBelow(answer.status, 300, answer.text)
    return answer
  }

  const readyAsset = async (format: Format, kind: string, bytes: Uint8Array) => {
    const made = await send("POST", "/assets", { kind, contentType: `image/${format}` })
    const { assetId } = made.body.data
    await fetch(`${service.url}/api/v1/assets/${assetId}/content`, {
      method: "PUT",
      headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant },
      body: bytes
    })
    await send("POST", `/assets/${assetId}/complete`)
    return String(assetId)
  }

  const stage = async () => {
    tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    client = await make("clients")
    contract = await make("contracts", { clientId: client.id, status: "ACTIVE" })
  }

  const draft = async () => {
    const { body } = await send("POST", "/invoices", { contractId: contract.id })
    const invoiceId = String(body.data.id)
    await send("POST", "/billables", { invoiceId, billables: [{ name: "Inspection", amountMinor: 12_500 }] })
    return invoiceId
  }

  const pdfOf = async (invoiceId: string) => {
    const answer = await fetch(`${service.url}/api/v1/invoices/${invoiceId}/pdf`, {
      headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant }
    })
    assert.strictEqual(answer.status, 200)
    return Buffer.from(await answer.arrayBuffer())
  }
  const imagesIn = (pdf: Buffer) => pdf.toString("latin1").match(/\/Subtype \/Image/g)?.length ?? 0

  for (const format of formats) {
    it(`shows a logo and a background that are ${format} files`, async () => {
      await stage()
      const plain = imagesIn(await pdfOf(await draft()))
      const logo = await readyAsset(format, "BRANDING_LOGO", await imageOf(format, "#1f6f54"))
      const background = await readyAsset(format, "BRANDING_BACKGROUND", await imageOf(format, "#d8e6f2"))
      await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: logo })
      await send("PUT", `/clients/${client.id}/media/logo`, { assetId: logo })
      await send("PUT", `/tenants/${tenant}/media/paper`, { assetId: background })
      const branded = imagesIn(await pdfOf(await draft()))
      assert.isAtLeast(branded - plain, 3)
    })
  }

  it("is frozen with the number: other images, or none, make no other document", async () => {
    await stage()
    const logo = await readyAsset("png", "BRANDING_LOGO", await imageOf("png", "#1f6f54"))
    await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: logo })
    const invoice = await draft()
    await send("POST", `/invoices/${invoice}/finalize`)
    const issued = await pdfOf(invoice)
    const other = await readyAsset("jpeg", "BRANDING_LOGO", await imageOf("jpeg", "#a03030"))
    await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: other })
    await send("DELETE", `/assets/${logo}`)
    assert.isTrue(issued.equals(await pdfOf(invoice)))
    await send("DELETE", `/tenants/${tenant}/media/logo`)
    assert.isTrue(issued.equals(await pdfOf(invoice)))
    assert.isBelow(imagesIn(await pdfOf(await draft())), imagesIn(issued))
  })

  it("is without an image that goes away while the invoice is issued", async () => {
    await stage()
    const plain = imagesIn(await pdfOf(await draft()))
    const logo = await readyAsset("png", "BRANDING_LOGO", await imageOf("png", "#123456"))
    await send("PUT", `/tenants/${tenant}/media/logo`, { assetId: logo })
    const invoice = await draft()
    const held = await lockRow(at().pool, "delete from attachments where tenant_id = $1", tenant)
    await held.meanwhile("update tenants set media = '[]' where id = $1", tenant)
    await held.meanwhile("delete from assets where tenant_id = $1", tenant)
    await held.meanwhile("delete from blobs where tenant_id = $1", tenant)
    const issuing = send("POST", `/invoices/${invoice}/finalize`)
    try {
      await held.until(1)
    } finally {
      await held.release()
    }
    assert.strictEqual((await issuing).body.data.status, "FINALIZED")
    assert.strictEqual(imagesIn(await pdfOf(invoice)), plain)
  })

  it("takes of each kind the first in order, and a client's background instead of the tenant's", async () => {
    await stage()
    const asset = async (kind: string, colour: string) => readyAsset("png", kind, await imageOf("png", colour))
    const invoice = await draft()
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

  it("leaves out an image whose pixels are damaged, and shrinks one that is larger than it is seen", async () => {
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
