import type { S3ClientConfig } from "@aws-sdk/client-s3"
import { Effect, Redacted } from "effect"
import { Settings, type SettingsShape } from "../config/Settings.ts"

/**
 * Closes idle connections before the store does. The SDK cannot retry a streamed body on a connection that the store
 * has closed.
 */
const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 4_000 }

/** Silences the SDK, because the callers log the errors. */
const silentLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const credentialsOf = ({ BLOB_STORE_ACCESS_KEY_ID, BLOB_STORE_SECRET_ACCESS_KEY }: SettingsShape) =>
  BLOB_STORE_ACCESS_KEY_ID === undefined || BLOB_STORE_SECRET_ACCESS_KEY === undefined
    ? {}
    : {
        credentials: {
          accessKeyId: BLOB_STORE_ACCESS_KEY_ID,
          secretAccessKey: Redacted.value(BLOB_STORE_SECRET_ACCESS_KEY)
        }
      }

const optionsOf = (settings: SettingsShape): S3ClientConfig => ({
  region: settings.BLOB_STORE_REGION,
  ...(settings.BLOB_STORE_ENDPOINT === undefined
    ? {}
    : { endpoint: settings.BLOB_STORE_ENDPOINT, forcePathStyle: true }),
  ...credentialsOf(settings),
  // Not every S3-compatible store supports the SDK's checksums. Every read verifies the digest anyway.
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
  maxAttempts: 3,
  logger: silentLogger,
  requestHandler: {
    connectionTimeout: 2_000,
    socketTimeout: 20_000,
    throwOnRequestTimeout: true,
    httpAgent: agent,
    httpsAgent: agent
  }
})

/** Imports the SDK on demand, because it is as large as the rest of the program. */
const makeClient = async (settings: SettingsShape) => {
  const { S3 } = await import("@aws-sdk/client-s3")
  // Suppresses the warning about the Node version that future SDK versions require.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true"
  return new S3(optionsOf(settings))
}

/** Connects to the bucket of the settings. The scope closes the client. */
export const connectS3 = Effect.flatMap(Settings, (settings) =>
  Effect.acquireRelease(
    Effect.promise(() => makeClient(settings)),
    (client) => Effect.sync(() => client.destroy())
  )
)
