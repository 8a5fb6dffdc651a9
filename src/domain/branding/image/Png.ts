import { Either } from "effect"
import { textAt, uint32be } from "./Bytes.ts"
import { crc32 } from "./Crc32.ts"
import { hasOnlyZeroPadding, type ImageInfo, rejectFile, rejectTrailingData, rejectTruncated } from "./ImageInfo.ts"

export const pngSignature = "\x89PNG\r\n\x1a\n"

const maxInteger = 0x7fffffff

const bitDepths: ReadonlyMap<number, ReadonlyArray<number>> = new Map([
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]]
])

const indexedColour = 3

/** What the parser knows after the chunks it has read. */
interface ParserState {
  width: number
  height: number
  colours: number
  palette: boolean
  data: "none" | "reading" | "complete"
  declaredFrames: number
  frames: number
  frameLacksData: boolean
  sequence: number
}

type ErrorReason = string | undefined

const readHeader = (png: ParserState, body: Uint8Array): ErrorReason => {
  const [width, height] = [uint32be(body, 0), uint32be(body, 4)]
  const [depth, colours, compression, filter, interlace] = body.subarray(8)
  const isValid =
    body.length === 13 &&
    Math.min(width, height) >= 1 &&
    Math.max(width, height) <= maxInteger &&
    bitDepths.get(colours ?? -1)?.includes(depth ?? -1) &&
    compression === 0 &&
    filter === 0 &&
    (interlace === 0 || interlace === 1)
  if (!isValid) return "has a PNG header that makes no sense"
  Object.assign(png, { width, height, colours })
  return undefined
}

const readPalette = (png: ParserState, body: Uint8Array): ErrorReason => {
  const isValid = body.length > 0 && body.length <= 768 && body.length % 3 === 0 && (png.colours & 2) !== 0
  if (!isValid || png.palette || png.data !== "none") return "has a palette that makes no sense"
  png.palette = true
  return undefined
}

const readData = (png: ParserState): ErrorReason => {
  if (png.data === "complete") return "holds its picture data in pieces that lie apart"
  if (png.colours === indexedColour && !png.palette) return "lacks the palette its pixels refer to"
  png.data = "reading"
  png.frameLacksData = false
  return undefined
}

const readAnimation = (png: ParserState, body: Uint8Array): ErrorReason => {
  const frames = uint32be(body, 0)
  const isValid = body.length === 8 && frames >= 1 && frames <= maxInteger
  if (!isValid || png.declaredFrames > 0 || png.data !== "none") return "has an animation header that makes no sense"
  png.declaredFrames = frames
  return undefined
}

const readFrame = (png: ParserState, body: Uint8Array): ErrorReason => {
  const [width, height] = [uint32be(body, 4), uint32be(body, 8)]
  const [left, top] = [uint32be(body, 12), uint32be(body, 16)]
  if (body.length !== 26 || uint32be(body, 0) !== png.sequence) return "holds its animation frames out of order"
  if (png.frameLacksData) return `lacks the data of frame ${png.frames}`
  png.sequence += 1
  png.frames += 1
  png.frameLacksData = true
  const isInside = Math.min(width, height) >= 1 && left + width <= png.width && top + height <= png.height
  return isInside ? undefined : `draws frame ${png.frames} outside of the picture`
}

const readFrameData = (png: ParserState, body: Uint8Array): ErrorReason => {
  if (body.length < 4 || uint32be(body, 0) !== png.sequence || png.data === "none" || png.frames === 0)
    return "holds its animation frames out of order"
  png.sequence += 1
  png.frameLacksData = false
  return undefined
}

const readEnd = (png: ParserState, body: Uint8Array): ErrorReason => {
  if (body.length > 0) return "has an end that makes no sense"
  if (png.data === "none") return "holds no picture data"
  if (png.frameLacksData) return `lacks the data of frame ${png.frames}`
  if (png.frames !== png.declaredFrames)
    return `announces ${png.declaredFrames} animation frames but holds ${png.frames}`
  return undefined
}

const readers: ReadonlyMap<string, (png: ParserState, body: Uint8Array) => ErrorReason> = new Map([
  ["IHDR", readHeader],
  ["PLTE", readPalette],
  ["IDAT", readData],
  ["acTL", readAnimation],
  ["fcTL", readFrame],
  ["fdAT", readFrameData],
  ["IEND", readEnd]
])

/** A lowercase first letter marks a chunk that decoders may skip. */
const isAncillary = (type: string) => /^[a-z][A-Za-z]{3}$/.test(type)

const readChunk = (png: ParserState, type: string, bytes: Uint8Array, start: number, end: number): ErrorReason => {
  if ((png.width === 0) !== (type === "IHDR")) return "does not begin with its one PNG header"
  if (png.data === "reading" && type !== "IDAT") png.data = "complete"
  const read = readers.get(type)
  if (read !== undefined) return read(png, bytes.subarray(start, end))
  return isAncillary(type) ? undefined : "holds a chunk no PNG holds"
}

const toImageInfo = ({ width, height, frames }: ParserState): ImageInfo => ({
  type: "image/png",
  width,
  height,
  frames: Math.max(frames, 1)
})

const initialState = (): ParserState => ({
  width: 0,
  height: 0,
  colours: 0,
  palette: false,
  data: "none",
  declaredFrames: 0,
  frames: 0,
  frameLacksData: false,
  sequence: 0
})

export const inspectPng = (bytes: Uint8Array): Either.Either<ImageInfo, string> => {
  const png = initialState()
  let at = pngSignature.length
  while (bytes.length - at >= 12) {
    const [start, end] = [at + 8, at + 8 + uint32be(bytes, at)]
    if (end + 4 > bytes.length) return rejectTruncated(bytes)
    if (crc32(bytes, at + 4, end) !== uint32be(bytes, end)) return rejectFile(`is damaged after byte ${at}`)
    const type = textAt(bytes, at + 4, 4)
    const error = readChunk(png, type, bytes, start, end)
    if (error !== undefined) return rejectFile(error)
    at = end + 4
    if (type === "IEND")
      return hasOnlyZeroPadding(bytes, at) ? Either.right(toImageInfo(png)) : rejectTrailingData(bytes, at)
  }
  return rejectTruncated(bytes)
}
