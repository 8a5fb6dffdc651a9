import { Either } from "effect"
import { assert, describe, it } from "vitest"
import { inspectImage } from "../../../src/domain/branding/ImageFile.ts"
import { corpus, otherFormats, plainGif, plainPng, plainWebp } from "./corpus.ts"

const bytesOf = (text: string) => Buffer.from(text, "latin1")

const refusal = (bytes: Uint8Array) => Either.getOrNull(Either.flip(inspectImage(bytes)))

const script = "<script>alert(document.domain)</script>"
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`

const others: ReadonlyArray<readonly [string, Uint8Array]> = [
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

describe("a file that is no image", () => {
  for (const [name, bytes] of others)
    it(`is refused: ${name} that begins with ${JSON.stringify(Buffer.from(bytes).toString("latin1", 0, 12))}`, () => {
      assert.strictEqual(refusal(bytes), `is ${name}; only PNG, JPEG, WebP and GIF are taken`)
    })

  it("is refused when it is empty, or nothing known", () => {
    assert.strictEqual(refusal(new Uint8Array()), "is empty")
    assert.strictEqual(refusal(Buffer.from([0, 1, 2, 3])), "is no PNG, JPEG, WebP or GIF")
    assert.strictEqual(refusal(bytesOf("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0")), "is no PNG, JPEG, WebP or GIF")
  })
})

describe("a page dressed as an image", () => {
  const dressed = [
    `GIF89a${script}`,
    `GIF87a${script}`,
    `GIF89a=1;/*${script}*/`,
    `GIF89a/*\x01\0\x01\0\0\0${script};`,
    `GIF89a\x01\0\x01\0\0\0\0${script}\x3b`,
    `GIF89a\x01\0\x01\0\0\0\0\x21\xfe${script}\0\x3b`,
    `GIF89a\x01\0\x01\0\0\0\0\x21\xfe\x27${script}\0\x3b`,
    `\x89PNG\r\n\x1a\n${script}`,
    `\xff\xd8\xff${script}`,
    `\xff\xd8\xff\xe0${script}\xff\xd9`,
    `RIFF\x2b\0\0\0WEBP${script}`,
    `RIFF\x33\0\0\0WEBPVP8 ${script}`
  ]

  for (const page of dressed)
    it(`is refused: ${JSON.stringify(page)}`, () => {
      assert.isNotNull(refusal(bytesOf(page)))
    })
})

describe("what follows the end of an image", () => {
  it("is refused in a PNG, GIF and WebP", () => {
    for (const { type, bytes } of corpus.filter(({ type }) => type !== "image/jpeg"))
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
          refusal(Buffer.concat([bytes, bytesOf(more)])),
          `goes on for ${more.length} bytes after its picture has ended`
        )
  })

  it("may be zeros in a PNG and a GIF", () => {
    for (const image of [plainPng, plainGif])
      assert.deepStrictEqual(inspectImage(Buffer.concat([image, Buffer.alloc(9)])), inspectImage(image))
    assert.isNotNull(refusal(Buffer.concat([plainWebp, Buffer.alloc(8)])))
  })

  it("is left alone in a JPEG, as cameras write it", () => {
    for (const { bytes } of corpus.filter(({ type }) => type === "image/jpeg"))
      for (const more of [Buffer.alloc(64), bytes, bytesOf("SEFH\x6a\0\0\0")])
        assert.deepStrictEqual(inspectImage(Buffer.concat([bytes, more])), inspectImage(bytes))
  })
})
