import { Data, Effect } from "effect"

export class FolderUnusable extends Data.TaggedError("FolderUnusable")<{
  readonly path: string
  readonly reason: string
}> {
  override get message() {
    return `${this.path} cannot be used (${this.reason}). Make it writable, or choose another folder with DATA_DIR.`
  }
}

export const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

export const tryFileAccess = <A>(path: string, operation: () => A) =>
  Effect.try({ try: operation, catch: (cause) => new FolderUnusable({ path, reason: reasonOf(cause) }) })
