import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import S3rver from "s3rver"
import { startProxy } from "./proxy.ts"

const bucket = "images"
const objectMark = "._S3rver_object"

/** An S3 server with one bucket, behind a proxy that can fail. */
export const startS3 = async () => {
  const directory = mkdtempSync(join(tmpdir(), "contracting-s3-"))
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }]
  })
  const { port } = await server.run()
  const proxy = await startProxy(`http://127.0.0.1:${port}`)

  return {
    proxy,
    settings: {
      BLOB_STORE_BUCKET: bucket,
      BLOB_STORE_ENDPOINT: proxy.url,
      // The only account of s3rver.
      BLOB_STORE_ACCESS_KEY_ID: "S3RVER",
      BLOB_STORE_SECRET_ACCESS_KEY: "S3RVER"
    },

    /** The keys of all objects. */
    keys: () =>
      readdirSync(join(directory, bucket), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(objectMark))
        .map((file) => file.slice(0, -objectMark.length))
        .sort(),

    stop: async () => {
      await proxy.stop()
      server.httpServer.closeAllConnections()
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

export type S3 = Awaited<ReturnType<typeof startS3>>
