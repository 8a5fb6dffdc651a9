import { crc32 } from "node:zlib"

export interface Part {
  readonly type: string
  readonly body: Buffer
}

const signatureLength = 8

export const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const written = ({ type, body }: Part) => {
  const sealed = Buffer.concat([Buffer.from(type, "latin1"), body])
  return Buffer.concat([uint32(body.length), sealed, uint32(crc32(sealed))])
}

/** A PNG of these parts, each with the checksum it ought to have. */
export const pngOf = (parts: ReadonlyArray<Part>): Uint8Array =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts.map(written)])

export const partsOf = (png: Uint8Array): ReadonlyArray<Part> => {
  const bytes = Buffer.from(png)
  const parts: Array<Part> = []
  for (let at = signatureLength; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    parts.push({ type: bytes.toString("latin1", at + 4, at + 8), body: bytes.subarray(at + 8, at + 8 + length) })
    at += 12 + length
  }
  return parts
}

/** The same PNG with other parts in the place of those of a type. */
export const replacing = (png: Uint8Array, type: string, by: (body: Buffer) => ReadonlyArray<Part>) =>
  pngOf(partsOf(png).flatMap((part) => (part.type === type ? by(part.body) : [part])))

/** The same PNG with another size in its header; its pixels stay what they were. */
export const claiming = (png: Uint8Array, width: number, height: number) =>
  replacing(png, "IHDR", (body) => [
    { type: "IHDR", body: Buffer.concat([uint32(width), uint32(height), body.subarray(8)]) }
  ])

export const frameControl = (sequence: number, width: number, height: number, left = 0, top = 0): Part => ({
  type: "fcTL",
  body: Buffer.concat([...[sequence, width, height, left, top].map(uint32), Buffer.from([0, 1, 0, 10, 0, 0])])
})

export const animationControl = (frames: number): Part => ({
  type: "acTL",
  body: Buffer.concat([uint32(frames), uint32(0)])
})

/** An animation that shows the picture of a PNG so many times. */
export const animated = (png: Uint8Array, frames: number, announced = frames) => {
  const parts = partsOf(png)
  const header = parts.find(({ type }) => type === "IHDR")?.body ?? Buffer.alloc(13)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const data = Buffer.concat(parts.filter(({ type }) => type === "IDAT").map(({ body }) => body))
  const further = Array.from({ length: frames - 1 }, (_, index) => [
    frameControl(1 + 2 * index, width, height),
    { type: "fdAT", body: Buffer.concat([uint32(2 + 2 * index), data]) }
  ])
  const until = parts.findIndex(({ type }) => type === "IDAT")
  return pngOf([
    ...parts.slice(0, until),
    animationControl(announced),
    frameControl(0, width, height),
    { type: "IDAT", body: data },
    ...further.flat(),
    { type: "IEND", body: Buffer.alloc(0) }
  ])
}
