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
 * Not even padding may follow the end of a PNG, GIF or WebP: their encoders write none, and it is where a script,
 * an archive or a second file hides behind a picture.
 */
export const trailing = (bytes: Uint8Array, end: number) =>
  refuse(`goes on for ${bytes.length - end} bytes after its image has ended`)
