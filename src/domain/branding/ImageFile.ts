import { Either } from "effect"
import { textAt } from "./image/Bytes.ts"
import { gifSignatures, inspectGif } from "./image/Gif.ts"
import { type ImageFacts, type ImageType, refuse } from "./image/ImageFacts.ts"
import { inspectJpeg, jpegSignature } from "./image/Jpeg.ts"
import { nameOfOtherFile } from "./image/OtherFile.ts"
import { inspectPng, pngSignature } from "./image/Png.ts"
import { inspectWebp, isWebp } from "./image/Webp.ts"

export type { ImageFacts, ImageType } from "./image/ImageFacts.ts"

const mostPixels = 40_000_000
const longestSide = 20_000
const mostFrames = 500

const names: Record<ImageType, string> = {
  "image/png": "a PNG",
  "image/jpeg": "a JPEG",
  "image/webp": "a WebP",
  "image/gif": "a GIF"
}

const refuseOther = (bytes: Uint8Array) => {
  if (bytes.length === 0) return refuse("is empty")
  const name = nameOfOtherFile(bytes)
  return refuse(
    name === undefined ? "is no PNG, JPEG, WebP or GIF" : `is ${name}; only PNG, JPEG, WebP and GIF are taken`
  )
}

/** What the bytes are, or in a sentence why they are no image we take: what would follow "The file …". */
export const inspectImage = (bytes: Uint8Array): Either.Either<ImageFacts, string> => {
  const startsWith = (signature: string) => textAt(bytes, 0, signature.length) === signature
  if (startsWith(pngSignature)) return inspectPng(bytes)
  if (startsWith(jpegSignature)) return inspectJpeg(bytes)
  if (gifSignatures.some(startsWith)) return inspectGif(bytes)
  if (isWebp(bytes)) return inspectWebp(bytes)
  return refuseOther(bytes)
}

const withinBounds = (image: ImageFacts): Either.Either<ImageFacts, string> => {
  const { width, height, frames } = image
  const size = `is ${width} × ${height} pixels`
  if (width < 1 || height < 1) return refuse(`${size}; at least 1 × 1 is taken`)
  if (width * height > mostPixels) return refuse(`${size}; at most ${mostPixels / 1_000_000} megapixels are taken`)
  if (Math.max(width, height) > longestSide) return refuse(`${size}; at most ${longestSide} a side are taken`)
  if (frames > mostFrames) return refuse(`holds ${frames} frames; at most ${mostFrames} are taken`)
  return Either.right(image)
}

/** The same, and it is what it was declared as and within bounds. */
export const acceptImage = (bytes: Uint8Array, declared: ImageType): Either.Either<ImageFacts, string> =>
  Either.flatMap(inspectImage(bytes), (image) =>
    image.type === declared
      ? withinBounds(image)
      : refuse(`says it is ${names[declared]} but holds ${names[image.type]}`)
  )
