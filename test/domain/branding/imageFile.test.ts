import { Either } from "effect"
import sharp from "sharp"
import { assert, describe, it } from "vitest"
import { type ImageType, inspectImage, validateImage } from "../../../src/domain/branding/ImageFile.ts"
import { corpus, plainGif, plainJpeg, plainPng, plainWebp } from "./corpus.ts"
import { animated, claiming, pngOf, uint32 } from "./pngParts.ts"

const types: ReadonlyArray<ImageType> = ["image/png", "image/jpeg", "image/webp", "image/gif"]

const refusal = (bytes: Uint8Array, declared: ImageType) =>
  Either.getOrNull(Either.flip(validateImage(bytes, declared)))

const isTaken = (bytes: Uint8Array, declared: ImageType) => refusal(bytes, declared) === null

describe("an image", () => {
  for (const { name, type, bytes, shows, frames } of corpus)
    it(`is known for what it is: ${name}`, async () => {
      const said = await sharp(bytes).metadata()
      for (const [key, value] of Object.entries(shows)) assert.propertyVal(said, key, value)
      const facts = {
        type,
        width: said.width,
        height: said.pageHeight ?? said.height,
        frames: frames ?? said.pages ?? 1
      }
      assert.strictEqual(`image/${said.format}`, type)
      assert.deepStrictEqual(inspectImage(bytes), Either.right(facts))
      assert.deepStrictEqual(validateImage(bytes, type), inspectImage(bytes))
    })

  it("is only taken as what it was declared as", () => {
    for (const { type, bytes } of corpus)
      for (const declared of types) assert.strictEqual(isTaken(bytes, declared), declared === type)
    assert.strictEqual(refusal(plainJpeg, "image/png"), "says it is a PNG but holds a JPEG")
    assert.strictEqual(refusal(plainPng, "image/gif"), "says it is a GIF but holds a PNG")
    assert.strictEqual(refusal(plainGif, "image/webp"), "says it is a WebP but holds a GIF")
    assert.strictEqual(refusal(plainWebp, "image/jpeg"), "says it is a JPEG but holds a WebP")
  })

  it("is read the same from the middle of a larger buffer", () => {
    for (const { bytes } of corpus) {
      const around = Buffer.concat([Buffer.from("before"), bytes, Buffer.from("after")])
      assert.deepStrictEqual(inspectImage(around.subarray(6, 6 + bytes.length)), inspectImage(bytes))
    }
  })
})

describe("the bounds of an image", () => {
  const gifOf = (frames: number) =>
    Buffer.concat([
      Buffer.from("GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff", "latin1"),
      ...Array.from({ length: frames }, () => Buffer.from("\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0", "latin1")),
      Buffer.from("\x3b", "latin1")
    ])

  it("are forty megapixels", () => {
    assert.isTrue(isTaken(claiming(plainPng, 20_000, 2_000), "image/png"))
    assert.isTrue(isTaken(claiming(plainPng, 6_324, 6_324), "image/png"))
    assert.strictEqual(
      refusal(claiming(plainPng, 6_325, 6_325), "image/png"),
      "is 6325 × 6325 pixels; at most 40 megapixels are taken"
    )
  })

  it("are twenty thousand pixels a side", () => {
    assert.isTrue(isTaken(claiming(plainPng, 1, 20_000), "image/png"))
    assert.strictEqual(
      refusal(claiming(plainPng, 20_001, 1), "image/png"),
      "is 20001 × 1 pixels; at most 20000 a side are taken"
    )
  })

  it("are five hundred frames", async () => {
    assert.strictEqual((await sharp(gifOf(3)).metadata()).pages, 3)
    assert.isTrue(isTaken(gifOf(500), "image/gif"))
    assert.strictEqual(refusal(gifOf(501), "image/gif"), "holds 501 frames; at most 500 are taken")
    assert.isTrue(isTaken(animated(plainPng, 500), "image/png"))
    assert.strictEqual(refusal(animated(plainPng, 501), "image/png"), "holds 501 frames; at most 500 are taken")
  })

  it("hold for a file of seventy bytes that claims to be huge", () => {
    const header = Buffer.concat([uint32(60_000), uint32(60_000), Buffer.from([8, 0, 0, 0, 0])])
    const bomb = pngOf([
      { type: "IHDR", body: header },
      { type: "IDAT", body: Buffer.from("789c6360000000020001000000", "hex") },
      { type: "IEND", body: Buffer.alloc(0) }
    ])
    assert.strictEqual(bomb.length, 70)
    assert.strictEqual(refusal(bomb, "image/png"), "is 60000 × 60000 pixels; at most 40 megapixels are taken")
  })

  it("leave no room for a picture without a size", () => {
    assert.strictEqual(refusal(claiming(plainPng, 0, 5), "image/png"), "has a PNG header that makes no sense")
    assert.strictEqual(refusal(claiming(plainPng, 5, 0), "image/png"), "has a PNG header that makes no sense")
  })
})
