import { Either } from "effect"

const looksLikeMarkup = (start: string) => /^(\xef\xbb\xbf)?\s*</.test(start)

const isText = (start: string) => /^[\t\n\r\x20-\x7e\x80-\xf4]+$/.test(start)

/** Guesses the type of an unsupported file from its first bytes. Only error messages use the guess. */
export const sniffFileType = (bytes: Buffer): string | undefined => {
  const start = bytes.toString("latin1", 0, 512)
  if (start.startsWith("%PDF-")) return "a PDF"
  if (start.startsWith("BM") && !isText(start)) return "a BMP"
  if (start.startsWith("II*\0") || start.startsWith("MM\0*")) return "a TIFF"
  if (/^ftypavi[fs]/.test(start.slice(4))) return "an AVIF"
  if (/^ftyp(hei|hev|mif1|msf1)/.test(start.slice(4))) return "a HEIC"
  if (looksLikeMarkup(start)) return /<svg[\s>]/i.test(start) ? "an SVG" : "an HTML or XML document"
  return isText(start) ? "text" : undefined
}

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

export type ImageType = "image/png" | "image/jpeg" | "image/webp" | "image/gif"

export interface ImageSize {
  readonly width: number
  readonly height: number
  readonly frames: number
}

/** A reason for a rejection. It completes the sentence "The file …". */
export type RejectionReason = string

const rejectFile = (reason: RejectionReason): Either.Either<never, RejectionReason> => Either.left(reason)

export const maxPixels = 40_000_000
const maxSide = 20_000
const maxFrames = 500

const typeNames: Record<ImageType, string> = {
  "image/png": "a PNG",
  "image/jpeg": "a JPEG",
  "image/webp": "a WebP",
  "image/gif": "a GIF"
}

const signatures: ReadonlyArray<readonly [string, ImageType]> = [
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"]
]

const detectType = (bytes: Buffer): ImageType | undefined => {
  const start = bytes.toString("latin1", 0, 12)
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "image/webp"
  return signatures.find(([signature]) => start.startsWith(signature))?.[1]
}

const rejectUnsupported = (bytes: Buffer) => {
  if (bytes.length === 0) return rejectFile("is empty")
  const name = sniffFileType(bytes)
  return rejectFile(
    name === undefined ? "is not a PNG, JPEG, WebP or GIF" : `is ${name}; only PNG, JPEG, WebP and GIF are accepted`
  )
}

/** Some tools pad files with zeros. Other trailing data can hide a script, an archive or a second file. */
const isZeroPadding = (bytes: Buffer, type: ImageType) => type !== "image/webp" && bytes.every((byte) => byte === 0)

/** Requires the signature of the declared type, a complete container, and no data behind it. */
export const requireContainer = (bytes: Buffer, declared: ImageType): Either.Either<ImageEnd, RejectionReason> => {
  const type = detectType(bytes)
  if (type === undefined) return rejectUnsupported(bytes)
  if (type !== declared) return rejectFile(`is declared as ${typeNames[declared]} but contains ${typeNames[type]}`)
  const found = findImageEnd[type](bytes)
  if (found === undefined || found.end > bytes.length)
    return rejectFile(`is incomplete: it ends after ${bytes.length} bytes`)
  return isZeroPadding(bytes.subarray(found.end), type) || found.end === bytes.length
    ? Either.right(found)
    : rejectFile(`has ${bytes.length - found.end} bytes after the end of the image`)
}

export const requireImageSize = (image: ImageSize): Either.Either<ImageSize, RejectionReason> => {
  const { frames, height, width } = image
  const size = `is ${width} × ${height} pixels`
  if (width * height > maxPixels) return rejectFile(`${size}; at most ${maxPixels / 1_000_000} megapixels are accepted`)
  if (Math.max(width, height) > maxSide) return rejectFile(`${size}; at most ${maxSide} per side are accepted`)
  if (frames > maxFrames) return rejectFile(`has ${frames} frames; at most ${maxFrames} are accepted`)
  return Either.right(image)
}

export const damagedImage: RejectionReason = "is damaged or incomplete"
