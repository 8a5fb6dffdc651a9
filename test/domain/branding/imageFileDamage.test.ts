import { crc32 as zlibCrc32 } from "node:zlib"
import { Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type ImageInfo, inspectImage } from "../../../src/domain/branding/ImageFile.ts"
import { crc32 } from "../../../src/domain/branding/image/Crc32.ts"
import { corpus } from "./corpus.ts"

const sample = fc.constantFrom(...corpus)

const isRefused = (bytes: Uint8Array) => Either.isLeft(inspectImage(bytes))

const isSensible = ({ width, height, frames }: ImageInfo) => width >= 1 && height >= 1 && frames >= 1

/** Facts that make sense or a reason, and no exception. */
const answers = (bytes: Uint8Array) =>
  Either.match(inspectImage(bytes), { onLeft: (reason) => reason.length > 0, onRight: isSensible })

const flipped = (bytes: Uint8Array, bits: ReadonlyArray<number>) => {
  const copy = Uint8Array.from(bytes)
  for (const bit of bits) copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

/** The first bit of so many bytes with which changed this does not hold. */
const firstExceptionAmong = (bytes: Uint8Array, length: number, holds: (changed: Uint8Array) => boolean) => {
  const copy = Uint8Array.from(bytes)
  for (let bit = 0; bit < Math.min(bytes.length, length) * 8; bit++) {
    const [at, before] = [bit >> 3, copy[bit >> 3] ?? 0]
    copy[at] = before ^ (1 << (bit & 7))
    if (!holds(copy)) return bit
    copy[at] = before
  }
  return undefined
}

describe("a damaged image", () => {
  for (const { name, bytes } of corpus)
    it(`is refused wherever it is cut off: ${name}`, () => {
      for (let length = 0; length < bytes.length; length++)
        if (!isRefused(bytes.subarray(0, length))) assert.fail(`Taken after ${length} of ${bytes.length} bytes`)
      const most = bytes.subarray(0, -1)
      assert.deepStrictEqual(inspectImage(most), Either.left(`is cut off after ${most.length} bytes`))
    })

  it("is refused with any single bit of a PNG changed", () => {
    for (const { name, type, bytes } of corpus)
      if (type === "image/png") assert.isUndefined(firstExceptionAmong(bytes, bytes.length, isRefused), name)
  })

  it("gets an answer with any single bit of its first bytes changed", () => {
    for (const { name, bytes } of corpus) assert.isUndefined(firstExceptionAmong(bytes, 256, answers), name)
  })

  it("gets an answer with any few bits changed", () => {
    const damaged = sample.chain(({ bytes }) =>
      fc.array(fc.nat(bytes.length * 8 - 1), { minLength: 1, maxLength: 6 }).map((bits) => flipped(bytes, bits))
    )
    fc.assert(fc.property(damaged, answers), { numRuns: 5000 })
  })

  it("gets an answer with a piece cut out or put in", () => {
    const place = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(sample, place, place, fc.uint8Array({ maxLength: 40 }), ({ bytes }, from, to, piece) => {
        const [start, end] = [Math.floor(from * bytes.length), Math.floor(to * bytes.length)]
        return answers(Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(end)]))
      }),
      { numRuns: 5000 }
    )
  })

  it("gets an answer when it begins as one and ends as another", () => {
    const place = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(sample, sample, place, place, (one, other, from, to) =>
        answers(
          Buffer.concat([
            one.bytes.subarray(0, Math.floor(from * one.bytes.length)),
            other.bytes.subarray(Math.floor(to * other.bytes.length))
          ])
        )
      ),
      { numRuns: 5000 }
    )
  })
})

describe("arbitrary bytes", () => {
  it("get an answer", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), answers), { numRuns: 5000 })
  })

  it("get an answer behind the start of any image", () => {
    const start = fc.tuple(sample, fc.nat(40)).map(([{ bytes }, length]) => bytes.subarray(0, length))
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 400 }), (first, rest) => answers(Buffer.concat([first, rest]))),
      { numRuns: 5000 }
    )
  })

  it("are gone through once, however they are made to last", () => {
    const length = 4_000_000
    const filledWith = (head: string, pattern: string) =>
      Buffer.concat([Buffer.from(head, "latin1"), Buffer.alloc(length, pattern, "latin1")])
    const scan = "\xff\xd8\xff\xc0\0\x0b\x08\0\x01\0\x01\x01\x01\x11\0\xff\xda\0\x08\x01\x01\0\0\0\0"
    const screen = "GIF89a\x01\0\x01\0\0\0\0"
    const endless = [
      filledWith("\xff\xd8", "\xff"),
      filledWith("\xff\xd8", "\xff\xe0\0\x02"),
      filledWith(scan, "\xff\0"),
      filledWith(scan, "\xff\xd0"),
      filledWith(screen, "\x21\xfe\0"),
      filledWith(screen, "\x2c\0\0\0\0\x01\0\x01\0\0\x02\x01\x44\0"),
      filledWith(`${screen}\x21\xfe`, "\x01\x01")
    ]
    for (const bytes of endless)
      assert.deepStrictEqual(inspectImage(bytes), Either.left(`is cut off after ${bytes.length} bytes`))
  })
})

describe("images one after another", () => {
  const several = fc.array(sample, { minLength: 2, maxLength: 4 })

  it("are refused, unless the first is a JPEG, which then counts", () => {
    fc.assert(
      fc.property(several, (samples) => {
        const together = inspectImage(Buffer.concat(samples.map(({ bytes }) => bytes)))
        const [first] = samples
        if (first?.type === "image/jpeg") assert.deepStrictEqual(together, inspectImage(first.bytes))
        else assert.isTrue(Either.isLeft(together))
      }),
      { numRuns: 2000 }
    )
  })
})

describe("the checksum of a PNG", () => {
  it("is that of zlib", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(600), fc.nat(600), (bytes, start, end) => {
        const part = bytes.subarray(start, end)
        return crc32(bytes, Math.min(start, bytes.length), Math.min(end, bytes.length)) === zlibCrc32(part)
      })
    )
  })
})
