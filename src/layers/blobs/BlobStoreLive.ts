import { PostgresBlobs } from "./PostgresBlobs.ts"

export const BlobStoreLive = PostgresBlobs
