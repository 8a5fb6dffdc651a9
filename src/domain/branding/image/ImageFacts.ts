import { Either } from "effect"

export type ImageType = "image/png" | "image/jpeg" | "image/webp" | "image/gif"

export interface Size {
  readonly width: number
  readonly height: number
}

export interface ImageFacts extends Size {
  readonly type: ImageType
  readonly frames: number
}

/** Why a file is refused, as what follows "The file …" in a sentence. */
export const refuse = (reason: string): Either.Either<never, string> => Either.left(reason)

export const cutOff = (bytes: Uint8Array) => refuse(`is cut off after ${bytes.length} bytes`)

/**
 * What follows the end of a picture is where a script, an archive or a second file hides, so nothing may but zeros:
 * they hold nothing, and some tools fill a file up with them.
 */
export const isPadding = (bytes: Uint8Array, end: number) => {
  let at = end
  while (bytes[at] === 0) at++
  return at === bytes.length
}

export const trailing = (bytes: Uint8Array, end: number) =>
  refuse(`goes on for ${bytes.length - end} bytes after its picture has ended`)
