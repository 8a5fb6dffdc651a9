import { Either } from "effect"
import { byteAt, uint16be } from "./Bytes.ts"
import { type ImageInfo, rejectFile, rejectTruncated, type Size } from "./ImageInfo.ts"

export const jpegSignature = "\xff\xd8\xff"

const huffmanTables = 0xc4
const reservedFrame = 0xc8
const arithmeticTables = 0xcc
const firstRestart = 0xd0
const startOfImage = 0xd8
const endOfImage = 0xd9
const startOfScan = 0xda

const isRestart = (marker: number) => marker >= firstRestart && marker < startOfImage

const isFrame = (marker: number) =>
  marker >= 0xc0 &&
  marker <= 0xcf &&
  marker !== huffmanTables &&
  marker !== reservedFrame &&
  marker !== arithmeticTables

/** Markers below 0xC0 are invalid. Restart markers occur only inside a scan, and SOI only at the start of the file. */
const hasSegment = (marker: number) => marker >= 0xc0 && !isRestart(marker) && marker !== startOfImage

/** Offset of the code of the marker at `at`. Any number of 0xFF fill bytes may precede the code. */
const findMarkerCode = (bytes: Uint8Array, at: number) => {
  let code = at + 1
  while (bytes[code] === 0xff) code++
  return code
}

/** Offset of the marker that ends the data of a scan. Stuffed 0xFF bytes and restart markers are part of the data. */
const findEndOfScan = (bytes: Uint8Array, start: number) => {
  let at = start
  while (at < bytes.length) {
    if (bytes[at] !== 0xff) at++
    else {
      const code = findMarkerCode(bytes, at)
      const next = bytes[code]
      if (next === undefined) return bytes.length
      if (next !== 0 && !isRestart(next)) return at
      at = code + 1
    }
  }
  return bytes.length
}

const readFrameSize = (bytes: Uint8Array, at: number, length: number): Size | undefined => {
  const [precision, components] = [byteAt(bytes, at + 2), byteAt(bytes, at + 7)]
  const [height, width] = [uint16be(bytes, at + 3), uint16be(bytes, at + 5)]
  const isValid =
    length === 8 + 3 * components && components >= 1 && components <= 4 && precision >= 2 && precision <= 16
  // A height of zero defers the height to a DNL marker after the first scan. Hardly any decoder supports that.
  return isValid && height >= 1 && width >= 1 ? { width, height } : undefined
}

const isScanHeader = (bytes: Uint8Array, at: number, length: number) => {
  const components = byteAt(bytes, at + 2)
  return components >= 1 && components <= 4 && length === 6 + 2 * components
}

const toResult = (size: Size | undefined, scans: number): Either.Either<ImageInfo, string> =>
  size === undefined || scans === 0
    ? rejectFile("holds no picture data")
    : Either.right({ type: "image/jpeg", width: size.width, height: size.height, frames: 1 })

/** Allows trailing data: cameras and phones append previews, depth maps and gain maps to a JPEG. */
export const inspectJpeg = (bytes: Uint8Array): Either.Either<ImageInfo, string> => {
  let size: Size | undefined
  let scans = 0
  let at = 2
  while (at < bytes.length) {
    if (bytes[at] !== 0xff) return rejectFile(`is damaged at byte ${at}`)
    const code = findMarkerCode(bytes, at)
    const marker = bytes[code]
    if (marker === undefined) return rejectTruncated(bytes)
    if (marker === endOfImage) return toResult(size, scans)
    if (!hasSegment(marker)) return rejectFile(`is damaged at byte ${code}`)
    const [start, length] = [code + 1, uint16be(bytes, code + 1)]
    if (start + Math.max(length, 2) > bytes.length) return rejectTruncated(bytes)
    if (length < 2) return rejectFile(`is damaged at byte ${start}`)
    at = start + length
    if (isFrame(marker)) {
      if (size !== undefined) return rejectFile("holds more than one picture header")
      size = readFrameSize(bytes, start, length)
      if (size === undefined) return rejectFile("has a picture header that makes no sense")
    } else if (marker === startOfScan) {
      const end = findEndOfScan(bytes, at)
      if (end === bytes.length) return rejectTruncated(bytes)
      if (size === undefined || end === at || !isScanHeader(bytes, start, length))
        return rejectFile(`holds picture data that makes no sense at byte ${start}`)
      scans += 1
      at = end
    }
  }
  return rejectTruncated(bytes)
}
