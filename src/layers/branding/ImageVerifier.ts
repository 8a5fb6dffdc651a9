import { Effect, type Either } from "effect"
import {
  damagedImage,
  type ImageSize,
  type ImageType,
  maxPixels,
  type RejectionReason,
  requireContainer,
  requireImageSize
} from "../../domain/branding/ImageFile.ts"

/** Loaded at the first use: a native library that most processes never need. */
const loadSharp = async () => (await import("sharp")).default

const readSize = async (bytes: Buffer, announcedFrames: number): Promise<ImageSize> => {
  const sharp = await loadSharp()
  const { height, pages = 1, width } = await sharp(bytes, { limitInputPixels: false }).metadata()
  return { width, height, frames: Math.max(pages, announcedFrames) }
}

/** Decodes the first frame line by line, to find damaged pixels without keeping them. */
const decode = async (bytes: Buffer) => {
  const sharp = await loadSharp()
  await sharp(bytes, { failOn: "error", limitInputPixels: maxPixels, sequentialRead: true })
    .resize({ width: 1, height: 1, fit: "fill" })
    .raw()
    .toBuffer()
}

const orDamaged = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: (): RejectionReason => damagedImage })

/** Requires a whole image of the declared type and an allowed size. */
export const verifyImage = (
  bytes: Buffer,
  declared: ImageType
): Effect.Effect<Either.Either<ImageSize, RejectionReason>> =>
  requireContainer(bytes, declared).pipe(
    Effect.flatMap(({ frames }) => orDamaged(() => readSize(bytes, frames))),
    Effect.flatMap(requireImageSize),
    Effect.tap(() => orDamaged(() => decode(bytes))),
    Effect.either
  )
