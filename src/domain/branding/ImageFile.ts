import { Either } from "effect"
import { sniffFileType } from "./FileType.ts"
import { findImageEnd, type ImageEnd } from "./ImageEnd.ts"

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
    name === undefined ? "is no PNG, JPEG, WebP or GIF" : `is ${name}; only PNG, JPEG, WebP and GIF are taken`
  )
}

/** Some tools pad files with zeros. Other trailing data can hide a script, an archive or a second file. */
const isZeroPadding = (bytes: Buffer, type: ImageType) => type !== "image/webp" && bytes.every((byte) => byte === 0)

/** Requires the signature of the declared type, a complete container, and no data behind it. */
export const requireContainer = (bytes: Buffer, declared: ImageType): Either.Either<ImageEnd, RejectionReason> => {
  const type = detectType(bytes)
  if (type === undefined) return rejectUnsupported(bytes)
  if (type !== declared) return rejectFile(`says it is ${typeNames[declared]} but holds ${typeNames[type]}`)
  const found = findImageEnd[type](bytes)
  if (found === undefined || found.end > bytes.length) return rejectFile(`is cut off after ${bytes.length} bytes`)
  return isZeroPadding(bytes.subarray(found.end), type) || found.end === bytes.length
    ? Either.right(found)
    : rejectFile(`goes on for ${bytes.length - found.end} bytes after its picture has ended`)
}

export const requireImageSize = (image: ImageSize): Either.Either<ImageSize, RejectionReason> => {
  const { frames, height, width } = image
  const size = `is ${width} × ${height} pixels`
  if (width * height > maxPixels) return rejectFile(`${size}; at most ${maxPixels / 1_000_000} megapixels are taken`)
  if (Math.max(width, height) > maxSide) return rejectFile(`${size}; at most ${maxSide} a side are taken`)
  if (frames > maxFrames) return rejectFile(`holds ${frames} frames; at most ${maxFrames} are taken`)
  return Either.right(image)
}

export const damagedImage: RejectionReason = "is damaged or cut off"
