import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { Settings } from "../config/Settings.ts"
import type { BlobStore } from "./BlobStore.ts"
import { PostgresBlobs } from "./PostgresBlobs.ts"
import { S3Blobs } from "./S3Blobs.ts"

/** Uses an S3 bucket when the settings name one, else PostgreSQL. */
export const BlobStoreLive = Layer.unwrapEffect(
  Effect.map(
    Settings,
    ({ BLOB_STORE_BUCKET }): Layer.Layer<BlobStore, never, SqlClient | Settings> =>
      BLOB_STORE_BUCKET === undefined ? PostgresBlobs : S3Blobs
  )
)
