import { Either } from "effect"
import { byteAt, uint16le } from "./Bytes.ts"
import {
  hasOnlyZeroPadding,
  type ImageInfo,
  rejectFile,
  rejectTrailingData,
  rejectTruncated,
  type Size
} from "./ImageInfo.ts"

export const gifSignatures = ["GIF87a", "GIF89a"]

const screenEnd = 13
const frameHeader = 10
const extension = 0x21
const frame = 0x2c
const trailer = 0x3b

const colourTableLength = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

/** Offset after the empty block that ends a series of sub-blocks. It is past the end of a truncated file. */
const findEndOfBlocks = (bytes: Uint8Array, start: number) => {
  let at = start
  while (at < bytes.length && byteAt(bytes, at) > 0) at += byteAt(bytes, at) + 1
  return at + 1
}

const isInside = (bytes: Uint8Array, at: number, screen: Size) => {
  const [left, top] = [uint16le(bytes, at + 1), uint16le(bytes, at + 3)]
  const [width, height] = [uint16le(bytes, at + 5), uint16le(bytes, at + 7)]
  return width >= 1 && height >= 1 && left + width <= screen.width && top + height <= screen.height
}

/** Offset of the end of the frame that starts at `at`. */
const findEndOfFrame = (bytes: Uint8Array, at: number, screen: Size, number: number): Either.Either<number, string> => {
  const data = at + frameHeader + colourTableLength(byteAt(bytes, at + 9))
  if (data + 1 >= bytes.length) return rejectTruncated(bytes)
  if (!isInside(bytes, at, screen)) return rejectFile(`draws frame ${number} outside of the picture`)
  const codeSize = byteAt(bytes, data)
  if (codeSize < 1 || codeSize > 8 || byteAt(bytes, data + 1) === 0)
    return rejectFile(`lacks the data of frame ${number}`)
  return Either.right(findEndOfBlocks(bytes, data + 1))
}

const toResult = (bytes: Uint8Array, end: number, screen: Size, frames: number): Either.Either<ImageInfo, string> => {
  if (!hasOnlyZeroPadding(bytes, end)) return rejectTrailingData(bytes, end)
  if (frames === 0) return rejectFile("holds no picture data")
  return Either.right({ type: "image/gif", width: screen.width, height: screen.height, frames })
}

export const inspectGif = (bytes: Uint8Array): Either.Either<ImageInfo, string> => {
  const screen = { width: uint16le(bytes, 6), height: uint16le(bytes, 8) }
  let frames = 0
  let at = screenEnd + colourTableLength(byteAt(bytes, 10))
  while (at < bytes.length) {
    switch (bytes[at]) {
      case trailer:
        return toResult(bytes, at + 1, screen, frames)
      case extension:
        at = findEndOfBlocks(bytes, at + 2)
        break
      case frame: {
        frames += 1
        const end = findEndOfFrame(bytes, at, screen, frames)
        if (Either.isLeft(end)) return rejectFile(end.left)
        at = end.right
        break
      }
      default:
        return rejectFile(`holds something no GIF holds at byte ${at}`)
    }
  }
  return rejectTruncated(bytes)
}
