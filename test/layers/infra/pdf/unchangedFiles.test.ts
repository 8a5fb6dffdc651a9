import { createHash } from "node:crypto"
import { inflateSync } from "node:zlib"
import { assert, describe, it } from "vitest"
import type { InvoiceDocument } from "../../../../src/domain/invoicing/document/InvoiceDocument.ts"
import { drawInvoice } from "../../../../src/layers/infra/pdf/drawing/InvoiceLayout.ts"
import { creditNoteSource, eInvoiceSource } from "../../../support/fixtures/eInvoices.ts"
import { documentOfSource } from "../../../support/fixtures/hybridDocuments.ts"
import { documentOf, maxLengthParties, typicalLines } from "../../../support/fixtures/invoiceDocuments.ts"
import { fonts } from "../../../support/fixtures/renderedInvoice.ts"

/** The bytes of a file with its streams inflated: how zlib compresses them differs between versions of Node. */
const inflateStreams = (file: Uint8Array) => {
  const text = Buffer.from(file).toString("latin1")
  return text.replace(/stream\n([\s\S]*?)\nendstream/g, (whole, stream: string) => {
    const bytes = Buffer.from(stream, "latin1")
    // Deflated data starts with this byte; metadata is not compressed.
    return bytes[0] === 0x78 ? inflateSync(bytes).toString("latin1") : whole
  })
}

const digestOf = async (document: InvoiceDocument) => {
  const content = inflateStreams(await drawInvoice(fonts, document))
    // Lengths and offsets of compressed streams.
    .replace(/\/Length \d+/g, "")
    .replace(/^\d{10} \d{5} [nf] ?$/gm, "")
    .replace(/startxref\n\d+/, "")
  return createHash("sha256").update(content, "latin1").digest("hex").slice(0, 16)
}

const taxed = eInvoiceSource({
  lines: [
    { rates: ["standard"], quantity: 1234.5, amountMinor: 9_900, discount: { percent: 2.5 } },
    { rates: ["odd"], quantity: 3, amountMinor: 5_000, fields: { discountReason: "Loyalty" } }
  ],
  discount: { percent: 5 },
  invoice: { discountReason: "Frame contract" }
})
const credited = creditNoteSource(taxed, { full: true }) ?? assert.fail("cannot be credited")

/** Digests of files that releases made whose parties had no language, the first ones without taxes. */
const digests: ReadonlyArray<readonly [name: string, digest: string, document: InvoiceDocument]> = [
  ["one line", "5d7d2afa6a50ecb5", documentOf({})],
  [
    "a void invoice of forty lines",
    "25d9370e70bc66dd",
    documentOf({ lines: typicalLines(40), invoice: { status: "VOID" } })
  ],
  [
    "long parties in KWD",
    "7819159282023b1a",
    documentOf({ parties: maxLengthParties(true), invoice: { currencyCode: "KWD" } })
  ],
  ["two taxes and discounts", "840681eb7d05be32", documentOfSource(taxed)],
  ["a credit note", "a239c690e5357ad2", documentOfSource(credited)]
]

describe("The PDF of an invoice whose parties have no language", () => {
  it.each(digests)("is the same as in the release before: %s", async (_, digest, document) => {
    assert.strictEqual(await digestOf(document), digest)
  })
})
