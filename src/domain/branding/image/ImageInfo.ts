import { Either } from "effect"

export type ImageType = "image/png" | "image/jpeg" | "image/webp" | "image/gif"

export interface Size {
  readonly width: number
  readonly height: number
}

export interface ImageInfo extends Size {
  readonly type: ImageType
  readonly frames: number
}

/** Rejects a file. The reason completes the sentence "The file …". */
export const rejectFile = (reason: string): Either.Either<never, string> => Either.left(reason)

export const rejectTruncated = (bytes: Uint8Array) => rejectFile(`is cut off after ${bytes.length} bytes`)

/**
 * Whether only zeros follow the picture. Other trailing data can hide a script, an archive or a second file. Zeros are
 * harmless, and some tools pad files with them.
 */
export const hasOnlyZeroPadding = (bytes: Uint8Array, end: number) => {
  let at = end
  while (bytes[at] === 0) at++
  return at === bytes.length
}

export const rejectTrailingData = (bytes: Uint8Array, end: number) =>
  rejectFile(`goes on for ${bytes.length - end} bytes after its picture has ended`)
