import { Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type ImageType, requireContainer, requireImageSize } from "../../../src/domain/branding/ImageFile.ts"
import { corpus, otherFormats, plainGif, plainJpeg, plainPng, plainWebp } from "../../support/fixtures/imageCorpus.ts"

const types: ReadonlyArray<ImageType> = ["image/png", "image/jpeg", "image/webp", "image/gif"]
const sample = fc.constantFrom(...corpus)

const rejectionOf = (bytes: Uint8Array, declared: ImageType) =>
  Either.getOrNull(Either.flip(requireContainer(Buffer.from(bytes), declared)))

const bytesOf = (text: string) => Buffer.from(text, "latin1")

const script = "<script>alert(document.domain)</script>"
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`

describe("requireContainer", () => {
  for (const { name, type, bytes } of corpus)
    it(`finds the end of ${name}`, () => {
      const found = requireContainer(Buffer.from(bytes), type)
      assert.strictEqual(Either.getOrNull(Either.map(found, ({ end }) => end)), bytes.length)
    })

  it("rejects an image that is not of its declared type", () => {
    for (const { type, bytes } of corpus)
      for (const declared of types) assert.strictEqual(rejectionOf(bytes, declared) === null, declared === type)
    assert.strictEqual(rejectionOf(plainJpeg, "image/png"), "is declared as a PNG but contains a JPEG")
    assert.strictEqual(rejectionOf(plainPng, "image/gif"), "is declared as a GIF but contains a PNG")
    assert.strictEqual(rejectionOf(plainGif, "image/webp"), "is declared as a WebP but contains a GIF")
    assert.strictEqual(rejectionOf(plainWebp, "image/jpeg"), "is declared as a JPEG but contains a WebP")
  })

  const unsupported: ReadonlyArray<readonly [string, Uint8Array]> = [
    ...otherFormats,
    ["an SVG", bytesOf(svg)],
    ["an SVG", bytesOf(`\xef\xbb\xbf<?xml version="1.0"?>\n<!-- a comment -->\n${svg}`)],
    ["an HTML or XML document", bytesOf(`<!doctype html><html>${script}</html>`)],
    ["an HTML or XML document", bytesOf(`\n\n ${script}`)],
    ["a BMP", bytesOf("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\0\0\0\0")],
    ["a TIFF", bytesOf("MM\0*\0\0\0\x08\0\0\0\0\0\0")],
    ["a HEIC", bytesOf("\0\0\0\x18ftypheic\0\0\0\0mif1heic")],
    ["a PDF", bytesOf("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")],
    ["text", bytesOf("Dear reader,\r\nthis is no picture.\r\n")],
    ["text", Buffer.from("BMs und andere Dinge – in Worten", "utf8")]
  ]
  for (const [name, bytes] of unsupported)
    it(`rejects ${name} that starts with ${JSON.stringify(Buffer.from(bytes).toString("latin1", 0, 12))}`, () => {
      assert.strictEqual(rejectionOf(bytes, "image/png"), `is ${name}; only PNG, JPEG, WebP and GIF are accepted`)
    })

  it("rejects an empty file and unknown bytes", () => {
    assert.strictEqual(rejectionOf(new Uint8Array(), "image/png"), "is empty")
    assert.strictEqual(rejectionOf(Buffer.from([0, 1, 2, 3]), "image/png"), "is not a PNG, JPEG, WebP or GIF")
    const wave = bytesOf("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0")
    assert.strictEqual(rejectionOf(wave, "image/webp"), "is not a PNG, JPEG, WebP or GIF")
  })

  const framed = corpus.filter(({ type }) => type !== "image/jpeg")

  it("rejects a PNG, GIF or WebP that is cut off anywhere", () => {
    for (const { name, type, bytes } of framed) {
      for (let length = 0; length < bytes.length; length++)
        if (rejectionOf(bytes.subarray(0, length), type) === null) assert.fail(`${name} after ${length} bytes`)
      assert.strictEqual(
        rejectionOf(bytes.subarray(0, -1), type),
        `is incomplete: it ends after ${bytes.length - 1} bytes`
      )
    }
  })

  it("rejects data behind a PNG, GIF or WebP", () => {
    for (const { type, bytes } of framed)
      for (const more of [
        script,
        svg,
        "PK\x03\x04",
        "\n",
        "\0\0\x01",
        "\x3b",
        ...(type === "image/webp" ? ["\0"] : [])
      ])
        assert.strictEqual(
          rejectionOf(Buffer.concat([bytes, bytesOf(more)]), type),
          `has ${more.length} bytes after the end of the image`
        )
  })

  it("accepts zeros behind a PNG or GIF", () => {
    assert.isNull(rejectionOf(Buffer.concat([plainPng, Buffer.alloc(9)]), "image/png"))
    assert.isNull(rejectionOf(Buffer.concat([plainGif, Buffer.alloc(9)]), "image/gif"))
    assert.isNotNull(rejectionOf(Buffer.concat([plainWebp, Buffer.alloc(8)]), "image/webp"))
  })

  it("accepts data behind a JPEG, as cameras write it", () => {
    for (const { bytes } of corpus.filter(({ type }) => type === "image/jpeg"))
      for (const more of [Buffer.alloc(64), bytes, bytesOf("SEFH\x6a\0\0\0")])
        assert.isNull(rejectionOf(Buffer.concat([bytes, more]), "image/jpeg"))
  })

  it("returns for any bytes behind the start of any image", () => {
    const starts = fc.tuple(sample, fc.nat(40))
    fc.assert(
      fc.property(starts, fc.uint8Array({ maxLength: 400 }), ([{ bytes, type }, length], rest) => {
        requireContainer(Buffer.concat([bytes.subarray(0, length), rest]), type)
      }),
      { numRuns: 3000 }
    )
  })

  it("reads a long file once, however its blocks are nested", () => {
    const screen = "GIF89a\x01\0\x01\0\0\0\0"
    for (const pattern of ["\x21\xfe\0", "\x2c\0\0\0\0\x01\0\x01\0\0\x02\x01\x44\0"]) {
      const bytes = Buffer.concat([bytesOf(screen), Buffer.alloc(4_000_000, pattern, "latin1")])
      assert.strictEqual(rejectionOf(bytes, "image/gif"), `is incomplete: it ends after ${bytes.length} bytes`)
    }
  })
})

describe("requireImageSize", () => {
  const rejectionOfSize = (width: number, height: number, frames = 1) =>
    Either.getOrNull(Either.flip(requireImageSize({ width, height, frames })))

  it("accepts up to 40 megapixels", () => {
    assert.isNull(rejectionOfSize(20_000, 2_000))
    assert.isNull(rejectionOfSize(6_324, 6_324))
    assert.strictEqual(rejectionOfSize(6_325, 6_325), "is 6325 × 6325 pixels; at most 40 megapixels are accepted")
  })

  it("accepts up to 20 000 pixels a side", () => {
    assert.isNull(rejectionOfSize(1, 20_000))
    assert.strictEqual(rejectionOfSize(20_001, 1), "is 20001 × 1 pixels; at most 20000 per side are accepted")
    assert.strictEqual(rejectionOfSize(1, 20_001), "is 1 × 20001 pixels; at most 20000 per side are accepted")
  })

  it("accepts up to 500 frames", () => {
    assert.isNull(rejectionOfSize(1, 1, 500))
    assert.strictEqual(rejectionOfSize(1, 1, 501), "has 501 frames; at most 500 are accepted")
  })
})
