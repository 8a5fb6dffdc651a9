import type { ImageType } from "./ImageFile.ts"

/** Where the picture ends, and how many frames its container announces. */
export interface ImageEnd {
  readonly end: number
  readonly frames: number
}

const pngHeaderLength = 8

/** Chunks of length, type, body and checksum, up to IEND. `acTL` announces an animation. */
const findPngEnd = (bytes: Buffer): ImageEnd | undefined => {
  let frames = 1
  for (let at = pngHeaderLength; at + 12 <= bytes.length; at += bytes.readUInt32BE(at) + 12) {
    const type = bytes.toString("latin1", at + 4, at + 8)
    if (type === "acTL") frames = bytes.readUInt32BE(at + 8)
    if (type === "IEND") return { end: at + 12 + bytes.readUInt32BE(at), frames }
  }
  return undefined
}

const gifScreenLength = 13
const gifFrameHeaderLength = 10
const gifExtension = 0x21
const gifFrame = 0x2c
const gifTrailer = 0x3b

const colourTableLength = (flags = 0) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

/** Offset after the empty sub-block that ends a series of them. */
const findEndOfSubBlocks = (bytes: Buffer, start: number) => {
  let at = start
  for (let length = bytes[at]; length; length = bytes[at]) at += length + 1
  return at + 1
}

const findGifEnd = (bytes: Buffer): ImageEnd | undefined => {
  let frames = 0
  let at = gifScreenLength + colourTableLength(bytes[10])
  for (;;) {
    const block = bytes[at]
    if (block === gifTrailer) return { end: at + 1, frames }
    if (block === gifExtension) at = findEndOfSubBlocks(bytes, at + 2)
    else if (block === gifFrame) {
      frames += 1
      at = findEndOfSubBlocks(bytes, at + gifFrameHeaderLength + colourTableLength(bytes[at + 9]) + 1)
    } else return undefined
  }
}

const riffHeaderLength = 8

const findWebpEnd = (bytes: Buffer): ImageEnd => ({ end: bytes.readUInt32LE(4) + riffHeaderLength, frames: 1 })

/** Undefined for a file that is cut off or has no such structure. */
export const findImageEnd: Readonly<Record<ImageType, (bytes: Buffer) => ImageEnd | undefined>> = {
  "image/png": findPngEnd,
  "image/gif": findGifEnd,
  "image/webp": findWebpEnd,
  // Cameras and phones append previews, depth maps and gain maps to a JPEG.
  "image/jpeg": ({ length }) => ({ end: length, frames: 1 })
}
