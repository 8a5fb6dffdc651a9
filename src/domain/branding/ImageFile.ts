import { Either } from "effect"
import { textAt } from "./image/Bytes.ts"
import { sniffFileType } from "./image/FileType.ts"
import { gifSignatures, inspectGif } from "./image/Gif.ts"
import { type ImageInfo, type ImageType, rejectFile } from "./image/ImageInfo.ts"
import { inspectJpeg, jpegSignature } from "./image/Jpeg.ts"
import { inspectPng, pngSignature } from "./image/Png.ts"
import { inspectWebp, isWebp } from "./image/Webp.ts"

export type { ImageInfo, ImageType } from "./image/ImageInfo.ts"

const maxPixels = 40_000_000
const maxSide = 20_000
const maxFrames = 500

const typeNames: Record<ImageType, string> = {
  "image/png": "a PNG",
  "image/jpeg": "a JPEG",
  "image/webp": "a WebP",
  "image/gif": "a GIF"
}

const rejectUnsupported = (bytes: Uint8Array) => {
  if (bytes.length === 0) return rejectFile("is empty")
  const name = sniffFileType(bytes)
  return rejectFile(
    name === undefined ? "is no PNG, JPEG, WebP or GIF" : `is ${name}; only PNG, JPEG, WebP and GIF are taken`
  )
}

/** Detects the type and size of an image. The error is a reason that completes the sentence "The file …". */
export const inspectImage = (bytes: Uint8Array): Either.Either<ImageInfo, string> => {
  const startsWith = (signature: string) => textAt(bytes, 0, signature.length) === signature
  if (startsWith(pngSignature)) return inspectPng(bytes)
  if (startsWith(jpegSignature)) return inspectJpeg(bytes)
  if (gifSignatures.some(startsWith)) return inspectGif(bytes)
  if (isWebp(bytes)) return inspectWebp(bytes)
  return rejectUnsupported(bytes)
}

const requireBounds = (image: ImageInfo): Either.Either<ImageInfo, string> => {
  const { width, height, frames } = image
  const size = `is ${width} × ${height} pixels`
  if (width < 1 || height < 1) return rejectFile(`${size}; at least 1 × 1 is taken`)
  if (width * height > maxPixels) return rejectFile(`${size}; at most ${maxPixels / 1_000_000} megapixels are taken`)
  if (Math.max(width, height) > maxSide) return rejectFile(`${size}; at most ${maxSide} a side are taken`)
  if (frames > maxFrames) return rejectFile(`holds ${frames} frames; at most ${maxFrames} are taken`)
  return Either.right(image)
}

/** Inspects an image and also requires the declared type and the size limits. */
export const validateImage = (bytes: Uint8Array, declared: ImageType): Either.Either<ImageInfo, string> =>
  Either.flatMap(inspectImage(bytes), (image) =>
    image.type === declared
      ? requireBounds(image)
      : rejectFile(`says it is ${typeNames[declared]} but holds ${typeNames[image.type]}`)
  )
