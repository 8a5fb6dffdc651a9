import { Either } from "effect"
import { assert, describe, it } from "vitest"
import { inspectImage } from "../../../src/domain/branding/ImageFile.ts"
import {
  extendedWebp,
  greyPng,
  losslessWebp,
  movingWebp,
  palettePng,
  plainGif,
  plainJpeg,
  plainPng,
  plainWebp
} from "./corpus.ts"
import { animated, animationControl, frameControl, type Part, partsOf, pngOf, replacing } from "./pngParts.ts"

type Case = readonly [string, Uint8Array]

const refusal = (bytes: Uint8Array) => Either.getOrNull(Either.flip(inspectImage(bytes)))

const refuses = (cases: ReadonlyArray<Case>) => {
  for (const [reason, bytes] of cases)
    it(`which ${reason}`, () => {
      assert.strictEqual(refusal(bytes), reason)
    })
}

const changed = (bytes: Uint8Array, change: (copy: Buffer) => void) => {
  const copy = Buffer.from(bytes)
  change(copy)
  return copy
}

const find = (bytes: Uint8Array, part: string) => Buffer.from(bytes).indexOf(part, 0, "latin1")

describe("no PNG is a file", () => {
  const withHeader = (place: number, value: number) =>
    replacing(plainPng, "IHDR", (body) => [
      { type: "IHDR", body: changed(body, (copy) => copy.writeUInt8(value, place)) }
    ])
  const note: Part = { type: "teXt", body: Buffer.from("a note") }
  const nothing = Buffer.alloc(0)
  const split = (body: Buffer): ReadonlyArray<Part> => [
    { type: "IDAT", body: body.subarray(0, 9) },
    note,
    { type: "IDAT", body: body.subarray(9) }
  ]
  const afterHeader = (png: Uint8Array, ...parts: ReadonlyArray<Part>) =>
    replacing(png, "IHDR", (body) => [{ type: "IHDR", body }, ...parts])

  refuses([
    ["is damaged after byte 8", changed(plainPng, (copy) => copy.writeUInt32BE(7, 29))],
    ["does not begin with its one PNG header", pngOf([note, ...partsOf(plainPng)])],
    ["does not begin with its one PNG header", afterHeader(plainPng, ...partsOf(plainPng).slice(0, 1))],
    ["has a PNG header that makes no sense", withHeader(8, 3)],
    ["has a PNG header that makes no sense", withHeader(9, 5)],
    ["has a PNG header that makes no sense", withHeader(10, 1)],
    ["has a PNG header that makes no sense", withHeader(11, 1)],
    ["has a PNG header that makes no sense", withHeader(12, 2)],
    ["has a PNG header that makes no sense", withHeader(0, 0x80)],
    [
      "has a palette that makes no sense",
      replacing(palettePng, "PLTE", () => [{ type: "PLTE", body: Buffer.alloc(4) }])
    ],
    [
      "has a palette that makes no sense",
      replacing(palettePng, "PLTE", (body) => [
        { type: "PLTE", body },
        { type: "PLTE", body }
      ])
    ],
    ["has a palette that makes no sense", afterHeader(greyPng, { type: "PLTE", body: Buffer.alloc(3) })],
    ["lacks the palette its pixels refer to", replacing(palettePng, "PLTE", () => [])],
    ["holds no picture data", replacing(plainPng, "IDAT", () => [])],
    ["holds its picture data in pieces that lie apart", replacing(plainPng, "IDAT", split)],
    ["holds a chunk no PNG holds", afterHeader(plainPng, { type: "HTML", body: nothing })],
    ["holds a chunk no PNG holds", afterHeader(plainPng, { type: "t\0xt", body: nothing })],
    ["has an end that makes no sense", replacing(plainPng, "IEND", () => [{ type: "IEND", body: Buffer.from("x") }])],
    ["announces 4 animation frames but holds 3", animated(plainPng, 3, 4)],
    ["announces 0 animation frames but holds 1", afterHeader(plainPng, frameControl(0, 13, 9))],
    ["has an animation header that makes no sense", afterHeader(animated(plainPng, 2), animationControl(2))],
    ["has an animation header that makes no sense", afterHeader(plainPng, animationControl(0))],
    ["draws frame 1 outside of the picture", afterHeader(plainPng, animationControl(1), frameControl(0, 13, 9, 1))],
    ["draws frame 1 outside of the picture", afterHeader(plainPng, animationControl(1), frameControl(0, 13, 0))],
    [
      "lacks the data of frame 3",
      replacing(animated(plainPng, 2, 3), "IEND", (body) => [frameControl(3, 1, 1), { type: "IEND", body }])
    ],
    [
      "lacks the data of frame 1",
      afterHeader(plainPng, animationControl(2), frameControl(0, 13, 9), frameControl(1, 13, 9))
    ],
    [
      "holds its animation frames out of order",
      replacing(plainPng, "IEND", (body) => [
        { type: "fdAT", body: Buffer.alloc(9) },
        { type: "IEND", body }
      ])
    ],
    ["holds its animation frames out of order", afterHeader(plainPng, animationControl(1), frameControl(1, 13, 9))]
  ])
})

describe("no JPEG is a file", () => {
  const frame = find(plainJpeg, "\xff\xc0")
  const scan = find(plainJpeg, "\xff\xda")
  const frameEnd = frame + 2 + Buffer.from(plainJpeg).readUInt16BE(frame + 2)
  const scanEnd = scan + 2 + Buffer.from(plainJpeg).readUInt16BE(scan + 2)
  const without = (start: number, end: number) => Buffer.concat([plainJpeg.subarray(0, start), plainJpeg.subarray(end)])
  const twice = (start: number, end: number) => Buffer.concat([plainJpeg.subarray(0, end), plainJpeg.subarray(start)])

  refuses([
    ["holds no picture data", without(scan, plainJpeg.length - 2)],
    [`holds picture data that makes no sense at byte ${scan + 2 - (frameEnd - frame)}`, without(frame, frameEnd)],
    [`holds picture data that makes no sense at byte ${scan + 2}`, without(scanEnd, plainJpeg.length - 2)],
    ["holds more than one picture header", twice(frame, frameEnd)],
    ["has a picture header that makes no sense", changed(plainJpeg, (copy) => copy.writeUInt16BE(0, frame + 5))],
    ["has a picture header that makes no sense", changed(plainJpeg, (copy) => copy.writeUInt16BE(0, frame + 7))],
    ["has a picture header that makes no sense", changed(plainJpeg, (copy) => copy.writeUInt8(9, frame + 9))],
    [`is damaged at byte ${frame + 1}`, changed(plainJpeg, (copy) => copy.writeUInt8(0xd8, frame + 1))],
    [`is damaged at byte ${frame}`, changed(plainJpeg, (copy) => copy.writeUInt8(0, frame))],
    [`is damaged at byte ${frame + 2}`, changed(plainJpeg, (copy) => copy.writeUInt16BE(1, frame + 2))]
  ])
})

describe("no GIF is a file", () => {
  const header = plainGif.subarray(0, 13)
  const bare = changed(header, (copy) => copy.writeUInt8(0, 10))
  const frame = (left: number, top: number, width: number, height: number, data = "\x02\x02\x44\x01\0") =>
    Buffer.concat([Buffer.from([0x2c, left, 0, top, 0, width, 0, height, 0, 0]), Buffer.from(data, "latin1")])
  const gifOf = (...blocks: ReadonlyArray<Uint8Array>) => Buffer.concat([bare, ...blocks, Buffer.from(";")])

  refuses([
    ["holds no picture data", gifOf()],
    ["holds no picture data", gifOf(Buffer.from("\x21\xfe\x02hi\0", "latin1"))],
    ["draws frame 1 outside of the picture", gifOf(frame(0, 0, 14, 9))],
    ["draws frame 2 outside of the picture", gifOf(frame(0, 0, 13, 9), frame(1, 1, 12, 9))],
    ["draws frame 1 outside of the picture", gifOf(frame(0, 0, 0, 9))],
    ["lacks the data of frame 1", gifOf(frame(0, 0, 13, 9, "\x02\0"))],
    ["lacks the data of frame 1", gifOf(frame(0, 0, 13, 9, "\0\x02\x44\x01\0"))],
    ["lacks the data of frame 1", gifOf(frame(0, 0, 13, 9, "\x0c\x02\x44\x01\0"))],
    ["holds something no GIF holds at byte 13", gifOf(Buffer.from("<html>"))]
  ])

  it("but one with its frames inside the screen is", () => {
    const facts = { type: "image/gif" as const, width: 13, height: 9, frames: 2 }
    assert.deepStrictEqual(inspectImage(gifOf(frame(0, 0, 13, 9), frame(1, 1, 12, 8))), Either.right(facts))
  })
})

describe("no WebP is a file", () => {
  const chunks = (bytes: Uint8Array) => bytes.subarray(12)
  const riffOf = (...parts: ReadonlyArray<Uint8Array>) => {
    const body = Buffer.concat([Buffer.from("WEBP"), ...parts])
    return Buffer.concat([
      Buffer.from("RIFF"),
      changed(Buffer.alloc(4), (copy) => copy.writeUInt32LE(body.length)),
      body
    ])
  }
  const canvas = 20
  const frame = find(movingWebp, "ANMF")
  const animation = find(movingWebp, "ANIM")

  refuses([
    [
      `is cut off after ${plainWebp.length} bytes`,
      changed(plainWebp, (copy) => copy.writeUInt32LE(plainWebp.length - 6, 4))
    ],
    [
      "goes on for 2 bytes after its picture has ended",
      changed(plainWebp, (copy) => copy.writeUInt32LE(plainWebp.length - 10, 4))
    ],
    ["holds a part at byte 12 that is longer than the file has room for", riffOf()],
    [
      "holds a part at byte 12 that is longer than the file has room for",
      changed(plainWebp, (copy) => copy.writeUInt32LE(2 ** 32 - 1, 16))
    ],
    ["holds no picture data", riffOf(Buffer.from("JUNK\x04\0\0\0junk", "latin1"))],
    ["holds no picture data", riffOf(chunks(extendedWebp).subarray(0, 18))],
    ["holds no picture data", riffOf(chunks(movingWebp).subarray(0, frame - 12))],
    ["is damaged at byte 12", changed(plainWebp, (copy) => copy.writeUInt8(0, 23))],
    ["is damaged at byte 12", changed(plainWebp, (copy) => copy.writeUInt8(copy.readUInt8(20) | 1, 20))],
    ["is damaged at byte 12", changed(plainWebp, (copy) => copy.writeUInt16LE(0, 26))],
    ["is damaged at byte 12", changed(plainWebp, (copy) => copy.writeUInt16LE(0, 28))],
    ["is damaged at byte 12", changed(losslessWebp, (copy) => copy.writeUInt8(0x20, 24))],
    ["holds two pictures in the place of one", riffOf(chunks(plainWebp), chunks(plainWebp))],
    ["holds an animation where a single picture belongs", riffOf(chunks(plainWebp), chunks(movingWebp))],
    ["holds an animation where a single picture belongs", changed(movingWebp, (copy) => copy.writeUInt8(0, canvas))],
    ["holds a picture besides the frames of its animation", riffOf(chunks(movingWebp), chunks(plainWebp))],
    ["tells two different sizes for its picture", changed(extendedWebp, (copy) => copy.writeUInt8(99, canvas + 4))],
    ["tells two different sizes for frame 1", changed(movingWebp, (copy) => copy.writeUInt8(3, frame + 14))],
    ["draws frame 1 outside of the picture", changed(movingWebp, (copy) => copy.writeUInt8(1, frame + 8))],
    ["draws frame 1 outside of the picture", changed(movingWebp, (copy) => copy.writeUInt8(1, frame + 11))],
    [
      "lacks the data of frame 1",
      riffOf(chunks(movingWebp).subarray(0, frame - 12), Buffer.from("ANMF\x02\0\0\0\0\0", "latin1"))
    ],
    ["has no animation header before its frames", changed(movingWebp, (copy) => copy.write("JUNK", animation))],
    ["has a WebP header that makes no sense", riffOf(Buffer.from("VP8X\x02\0\0\0\x02\0", "latin1"), chunks(plainWebp))]
  ])
})
