import { Effect, Either } from "effect"
import fc from "fast-check"
import sharp from "sharp"
import { assert, describe, it } from "vitest"
import type { ImageType } from "../../../src/domain/branding/ImageFile.ts"
import { verifyImage } from "../../../src/layers/branding/ImageVerifier.ts"
import { corpus, plainJpeg, plainPng } from "../../support/fixtures/imageCorpus.ts"
import { animated, pngOf, uint32, withSize } from "../../support/fixtures/pngParts.ts"

const verify = (bytes: Uint8Array, declared: ImageType) => Effect.runPromise(verifyImage(Buffer.from(bytes), declared))

const rejectionOf = async (bytes: Uint8Array, declared: ImageType) =>
  Either.getOrNull(Either.flip(await verify(bytes, declared)))

const damaged = "is damaged or incomplete"

describe("verifyImage", () => {
  for (const { name, type, bytes, expected, frames } of corpus)
    it(`reads the size of ${name}`, async () => {
      const metadata = await sharp(bytes).metadata()
      for (const [key, value] of Object.entries(expected)) assert.propertyVal(metadata, key, value)
      assert.strictEqual(`image/${metadata.format}`, type)
      const { height, pages = 1, width } = metadata
      assert.deepStrictEqual(await verify(bytes, type), Either.right({ width, height, frames: frames ?? pages }))
    })

  it("rejects a JPEG that is cut off in its scan", async () => {
    for (const length of [plainJpeg.length / 2, plainJpeg.length - 20])
      assert.strictEqual(await rejectionOf(plainJpeg.subarray(0, length), "image/jpeg"), damaged)
  })

  it("rejects a PNG with any bit of its pixels changed", async () => {
    const start = Buffer.from(plainPng).indexOf("IDAT") + 4
    const length = Buffer.from(plainPng).readUInt32BE(start - 8)
    for (let at = start; at < start + length; at++) {
      const changed = Uint8Array.from(plainPng)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
      assert.strictEqual(await rejectionOf(changed, "image/png"), damaged, `byte ${at}`)
    }
  })

  const disguises: ReadonlyArray<readonly [ImageType, string]> = [
    ["image/gif", "GIF89a<script>alert(1)</script>"],
    ["image/gif", "GIF89a=1;/*<script>alert(1)</script>*/"],
    ["image/gif", "GIF89a\x01\0\x01\0\0\0\0<script>alert(1)</script>\x3b"],
    ["image/gif", "GIF89a\x01\0\x01\0\0\0\0\x21\xfe\x19<script>alert(1)</script>\0\x3b"],
    ["image/png", "\x89PNG\r\n\x1a\n<script>alert(1)</script>"],
    ["image/jpeg", "\xff\xd8\xff<script>alert(1)</script>"],
    ["image/jpeg", "\xff\xd8\xff\xe0<script>alert(1)</script>\xff\xd9"],
    ["image/webp", "RIFF\x1d\0\0\0WEBP<script>alert(1)</script>"],
    ["image/webp", "RIFF\x25\0\0\0WEBPVP8 <script>alert(1)</script>"]
  ]
  for (const [type, page] of disguises)
    it(`rejects the page ${JSON.stringify(page)}`, async () => {
      assert.isNotNull(await rejectionOf(Buffer.from(page, "latin1"), type))
    })

  it("rejects 70 bytes that claim 3600 megapixels", async () => {
    const header = Buffer.concat([uint32(60_000), uint32(60_000), Buffer.from([8, 0, 0, 0, 0])])
    const bomb = pngOf([
      { type: "IHDR", body: header },
      { type: "IDAT", body: Buffer.from("789c6360000000020001000000", "hex") },
      { type: "IEND", body: Buffer.alloc(0) }
    ])
    assert.strictEqual(bomb.length, 70)
    assert.strictEqual(
      await rejectionOf(bomb, "image/png"),
      "is 60000 × 60000 pixels; at most 40 megapixels are accepted"
    )
  })

  it("rejects a picture without a size", async () => {
    assert.strictEqual(await rejectionOf(withSize(plainPng, 0, 5), "image/png"), damaged)
    assert.strictEqual(await rejectionOf(withSize(plainPng, 5, 0), "image/png"), damaged)
  })

  it("rejects an animated PNG of more than 500 frames", async () => {
    assert.isNull(await rejectionOf(animated(plainPng, 500), "image/png"))
    assert.strictEqual(
      await rejectionOf(animated(plainPng, 501), "image/png"),
      "has 501 frames; at most 500 are accepted"
    )
  })

  it("returns for any damage", async () => {
    const damages = fc.constantFrom(...corpus).chain(({ bytes, type }) =>
      fc.array(fc.nat(bytes.length * 8 - 1), { minLength: 1, maxLength: 6 }).map((bits) => {
        const copy = Uint8Array.from(bytes)
        for (const bit of bits) copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return { bytes: copy, type }
      })
    )
    await fc.assert(
      fc.asyncProperty(damages, async ({ bytes, type }) => {
        const verified = await verify(bytes, type)
        return Either.isLeft(verified) || verified.right.width >= 1
      }),
      { numRuns: 200 }
    )
  })
})
