import { extractXml, Profile } from "@stackforge-eu/factur-x"
import fc from "fast-check"
import sharp from "sharp"
import { assert, describe, it } from "vitest"
import type { EInvoiceSource } from "../../../../src/domain/eInvoice/EInvoiceSource.ts"
import { prepareImages } from "../../../../src/layers/infra/pdf/drawing/DrawableImages.ts"
import { drawInvoice } from "../../../../src/layers/infra/pdf/drawing/InvoiceLayout.ts"
import { encodeAttachment, encodeEInvoice } from "../../../../src/layers/infra/pdf/EInvoiceEncoding.ts"
import { readHybrid } from "../../../support/assertions/hybridPdf.ts"
import { creditNoteSource, defaultBuyer, defaultSeller, eInvoiceSource } from "../../../support/fixtures/eInvoices.ts"
import { documentOfSource } from "../../../support/fixtures/hybridDocuments.ts"
import { eInvoiceSources } from "../../../support/fixtures/randomEInvoices.ts"
import { fonts } from "../../../support/fixtures/renderedInvoice.ts"

const source = eInvoiceSource({
  lines: [
    { rates: ["standard"], quantity: 2.5, amountMinor: 8833 },
    { rates: ["reduced"], quantity: 1, amountMinor: 1999 }
  ],
  discount: { percent: 5 }
})
const creditNote = creditNoteSource(source, { full: true }) ?? assert.fail("cannot be credited")

/** The file that the render thread makes, without images. */
const render = (from: EInvoiceSource) => {
  const document = documentOfSource(from)
  return drawInvoice(fonts, document, { eInvoice: encodeAttachment(document) })
}

const xmlOf = (from: EInvoiceSource) => encodeEInvoice({ eInvoice: from, syntax: "cii" })

const isPlain = async (from: EInvoiceSource) => {
  const { attachments, header, intents, xmp } = await readHybrid(await render(from))
  assert.deepStrictEqual({ attachments, intents, xmp }, { attachments: [], intents: [], xmp: "" })
  assert.strictEqual(header, "%PDF-1.3")
}

describe("The PDF of an issued document that meets EN 16931", () => {
  const documents: ReadonlyArray<readonly [name: string, source: EInvoiceSource, modifiedAt: string]> = [
    ["an invoice", source, "D:20260302080000Z"],
    ["a credit note", creditNote, "D:20260320233000Z"]
  ]
  it.each(documents)("has the XML of the API attached as Factur-X: %s", async (_, from, modifiedAt) => {
    const { attachments, listedNames } = await readHybrid(await render(from))
    const [{ bytes, ...attachment } = assert.fail("has no attachment"), ...others] = attachments
    assert.lengthOf(others, 0)
    const xml = xmlOf(from)
    assert.isTrue(Buffer.from(bytes).equals(xml))
    assert.deepStrictEqual(attachment, {
      names: ["factur-x.xml", "factur-x.xml"],
      relationship: "Alternative",
      type: "EmbeddedFile",
      subtype: "text/xml",
      size: String(xml.length),
      modifiedAt
    })
    assert.deepStrictEqual(listedNames, ["factur-x.xml"])
  })

  it("is read by another library of Factur-X, with the same XML", async () => {
    await fc.assert(
      fc.asyncProperty(eInvoiceSources, async (from) => {
        const { filename, profile, xml } = await extractXml(await render(from))
        assert.strictEqual(xml, new TextDecoder().decode(xmlOf(from)))
        assert.strictEqual(filename, "factur-x.xml")
        assert.strictEqual(profile, Profile.EN16931)
      }),
      { numRuns: 15 }
    )
  })

  it("says that it is PDF/A-3b and Factur-X, and describes the properties of Factur-X", async () => {
    const { header, idLengths, intents, metadata, xmp } = await readHybrid(await render(source))
    assert.strictEqual(header, "%PDF-1.7")
    assert.deepInclude(metadata, {
      "pdfaid:part": "3",
      "pdfaid:conformance": "B",
      "fx:DocumentType": "INVOICE",
      "fx:DocumentFileName": "factur-x.xml",
      "fx:Version": "1.0",
      "fx:ConformanceLevel": "EN 16931",
      "pdfaSchema:namespaceURI": "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#",
      "pdfaSchema:prefix": "fx"
    })
    const described = Array.from(xmp.matchAll(/<pdfaProperty:name>(\w+)</g), ([, name]) => `fx:${name}`)
    assert.deepStrictEqual(
      described,
      Object.keys(metadata).filter((name) => name.startsWith("fx:"))
    )
    assert.deepStrictEqual(intents, [
      { type: "GTS_PDFA1", condition: "sRGB IEC61966-2.1", components: "3", signature: "acsp" }
    ])
    assert.deepStrictEqual(idLengths, [16, 16])
  })

  it.each(['Bolts & <Nuts> "Ltd"', "Größe – Ελληνική 泵", "]]> &amp; 'x'"])(
    "has the same title, author and dates in its metadata and in its info: %s",
    async (name) => {
      const number = `${name} 42`
      const named = eInvoiceSource({
        lines: [{ rates: ["standard"], quantity: 1, amountMinor: 1000 }],
        invoice: { invoiceNumber: number },
        parties: { tenant: { ...defaultSeller, name }, client: { ...defaultBuyer, name } }
      })
      const { dates, info, metadata } = await readHybrid(await render(named))
      assert.deepInclude(info, { title: number, author: name })
      assert.deepInclude(metadata, {
        "dc:title": info.title,
        "dc:creator": info.author,
        "xmp:CreatorTool": info.creator,
        "pdf:Producer": info.producer,
        "xmp:CreateDate": "2026-03-02T08:00:00Z",
        "xmp:ModifyDate": "2026-03-02T08:00:00Z"
      })
      assert.deepStrictEqual(dates, [new Date("2026-03-02T08:00:00Z"), new Date("2026-03-02T08:00:00Z")])
    }
  )

  it("embeds all its fonts, with images that are partly transparent as well", async () => {
    const document = documentOfSource(source)
    const image = await sharp({ create: { width: 40, height: 30, channels: 4, background: "#c0102080" } })
      .png()
      .toBuffer()
    const images = await prepareImages({ "tenant-logo": image, "client-background": image })
    const file = await drawInvoice(fonts, document, { images, eInvoice: encodeAttachment(document) })
    const { attachments, fontFiles, otherFonts, softMasks } = await readHybrid(file)
    assert.lengthOf(attachments, 1)
    assert.deepStrictEqual(fontFiles, [true, true])
    assert.strictEqual(otherFonts, 0)
    assert.strictEqual(softMasks, 2)
  })

  it("has the same bytes each time it is rendered, and after payment", async () => {
    const file = await render(source)
    assert.isTrue(Buffer.from(file).equals(await render(source)))
    const paid = { ...source, invoice: { ...source.invoice, status: "PAID" } } as const
    assert.isTrue(Buffer.from(file).equals(await render(paid)))
  })
})

describe("The PDF of a document stays plain", () => {
  it("as long as the document is a draft", async () => {
    await isPlain({ ...source, invoice: { ...source.invoice, status: "DRAFT" } })
    const note = creditNote.creditNote ?? assert.fail("no credit note")
    await isPlain({ ...creditNote, creditNote: { ...note, status: "DRAFT" } })
  })

  it("when the invoice is void, because programs would book its XML", async () => {
    await isPlain({ ...source, invoice: { ...source.invoice, status: "VOID" } })
  })

  it("when the document does not meet the standard", async () => {
    await isPlain(eInvoiceSource({ lines: [{ rates: ["cityTax"], quantity: 1, amountMinor: 1000 }] }))
  })
})
