import { Either } from "effect"
import { byteAt, textAt, uint16le, uint24le, uint32le } from "./Bytes.ts"
import { type ImageInfo, rejectFile, rejectTrailingData, rejectTruncated, type Size } from "./ImageInfo.ts"

const firstChunk = 12
const chunkHeader = 8
const canvasLength = 10
const frameHeader = 16
const animationFlag = 0x02

interface Chunk {
  readonly type: string
  readonly start: number
  readonly end: number
  /** One padding byte follows a chunk of odd length. */
  readonly next: number
}

const chunkAt = (bytes: Uint8Array, at: number, limit: number): Either.Either<Chunk, string> => {
  const [start, length] = [at + chunkHeader, uint32le(bytes, at + 4)]
  const next = start + length + (length % 2)
  return next > limit
    ? rejectFile(`holds a part at byte ${at} that is longer than the file has room for`)
    : Either.right({ type: textAt(bytes, at, 4), start, end: start + length, next })
}

const readLossySize = (bytes: Uint8Array, { start, end }: Chunk): Size | undefined => {
  const tag = uint24le(bytes, start)
  const isShownKeyFrame = (tag & 1) === 0 && (tag & 0x10) !== 0
  const isValid = end - start > 10 && isShownKeyFrame && tag >> 5 < end - start
  return isValid && textAt(bytes, start + 3, 3) === "\x9d\x01\x2a"
    ? { width: uint16le(bytes, start + 6) & 0x3fff, height: uint16le(bytes, start + 8) & 0x3fff }
    : undefined
}

const readLosslessSize = (bytes: Uint8Array, { start, end }: Chunk): Size | undefined => {
  const bits = uint32le(bytes, start + 1)
  const version = bits >>> 29
  return end - start > 5 && byteAt(bytes, start) === 0x2f && version === 0
    ? { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    : undefined
}

const readPictureSize = (bytes: Uint8Array, chunk: Chunk) =>
  chunk.type === "VP8L" ? readLosslessSize(bytes, chunk) : readLossySize(bytes, chunk)

/** Size of the single picture in the chunks from `start` to `end`. */
const readSinglePicture = (bytes: Uint8Array, start: number, end: number): Either.Either<Size, string> => {
  let size: Size | undefined
  let at = start
  while (at < end) {
    const chunk = chunkAt(bytes, at, end)
    if (Either.isLeft(chunk)) return rejectFile(chunk.left)
    const { type, next } = chunk.right
    if (type === "VP8 " || type === "VP8L") {
      if (size !== undefined) return rejectFile("holds two pictures in the place of one")
      size = readPictureSize(bytes, chunk.right)
      if (size === undefined || size.width === 0 || size.height === 0) return rejectFile(`is damaged at byte ${at}`)
    } else if (type === "VP8X" || type === "ANIM" || type === "ANMF") {
      return rejectFile("holds an animation where a single picture belongs")
    }
    at = next
  }
  return size === undefined ? rejectFile("holds no picture data") : Either.right(size)
}

/** The reason why an animation frame is invalid, if it is. */
const frameError = (bytes: Uint8Array, { start, end }: Chunk, canvas: Size, number: number): string | undefined => {
  if (end - start < frameHeader) return `lacks the data of frame ${number}`
  const [left, top] = [uint24le(bytes, start) * 2, uint24le(bytes, start + 3) * 2]
  const [width, height] = [uint24le(bytes, start + 6) + 1, uint24le(bytes, start + 9) + 1]
  if (left + width > canvas.width || top + height > canvas.height) return `draws frame ${number} outside of the picture`
  const picture = readSinglePicture(bytes, start + frameHeader, end)
  if (Either.isLeft(picture)) return picture.left
  const isSameSize = picture.right.width === width && picture.right.height === height
  return isSameSize ? undefined : `tells two different sizes for frame ${number}`
}

const countFrames = (bytes: Uint8Array, canvas: Size, start: number): Either.Either<number, string> => {
  let frames = 0
  let hasAnimationHeader = false
  let at = start
  while (at < bytes.length) {
    const chunk = chunkAt(bytes, at, bytes.length)
    if (Either.isLeft(chunk)) return rejectFile(chunk.left)
    const { type, next } = chunk.right
    if (type === "ANMF") {
      frames += 1
      const error = frameError(bytes, chunk.right, canvas, frames)
      if (error !== undefined || !hasAnimationHeader)
        return rejectFile(error ?? "has no animation header before its frames")
    } else if (type.startsWith("VP8")) {
      return rejectFile("holds a picture besides the frames of its animation")
    }
    hasAnimationHeader ||= type === "ANIM"
    at = next
  }
  return frames === 0 ? rejectFile("holds no picture data") : Either.right(frames)
}

/** Extended format (VP8X): an animation, or one picture with metadata or transparency. */
const inspectExtended = (bytes: Uint8Array, header: Chunk): Either.Either<ImageInfo, string> => {
  if (header.end - header.start !== canvasLength) return rejectFile("has a WebP header that makes no sense")
  const canvas = { width: uint24le(bytes, header.start + 4) + 1, height: uint24le(bytes, header.start + 7) + 1 }
  if (byteAt(bytes, header.start) & animationFlag)
    return Either.map(countFrames(bytes, canvas, header.next), (frames) => ({ type: "image/webp", ...canvas, frames }))
  return Either.flatMap(readSinglePicture(bytes, header.next, bytes.length), ({ width, height }) =>
    width === canvas.width && height === canvas.height
      ? Either.right({ type: "image/webp" as const, width, height, frames: 1 })
      : rejectFile("tells two different sizes for its picture")
  )
}

export const isWebp = (bytes: Uint8Array) => textAt(bytes, 0, 4) === "RIFF" && textAt(bytes, 8, 4) === "WEBP"

export const inspectWebp = (bytes: Uint8Array): Either.Either<ImageInfo, string> => {
  const end = uint32le(bytes, 4) + 8
  if (end > bytes.length) return rejectTruncated(bytes)
  if (end < bytes.length) return rejectTrailingData(bytes, end)
  return Either.flatMap(chunkAt(bytes, firstChunk, end), (first) =>
    first.type === "VP8X"
      ? inspectExtended(bytes, first)
      : Either.map(readSinglePicture(bytes, firstChunk, end), (size) => ({ type: "image/webp", ...size, frames: 1 }))
  )
}
