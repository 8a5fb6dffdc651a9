import type { S3ClientConfig } from "@aws-sdk/client-s3"
import { Effect, Redacted } from "effect"
import { Settings, type SettingsShape } from "../config/Settings.ts"

/** Connections nobody uses are closed by us before the store does it, since a body that streams cannot be sent again. */
const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 4_000 }

/** Whatever goes wrong is told by whoever asked, in our own log. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

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
  // Every image is checked by its digest when it is read; not every compatible store knows the checksums of this one.
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
  maxAttempts: 3,
  logger: silent,
  requestHandler: {
    connectionTimeout: 2_000,
    socketTimeout: 20_000,
    throwOnRequestTimeout: true,
    httpAgent: agent,
    httpsAgent: agent
  }
})

/** The package is loaded only where it is used: it is as large as all the rest. */
const makeClient = async (settings: SettingsShape) => {
  const { S3 } = await import("@aws-sdk/client-s3")
  // Which Node later versions of the package will want is of no concern to whoever runs this one.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true"
  return new S3(optionsOf(settings))
}

/** A client for the store of the settings, closed with its scope. */
export const connectS3 = Effect.flatMap(Settings, (settings) =>
  Effect.acquireRelease(
    Effect.promise(() => makeClient(settings)),
    (client) => Effect.sync(() => client.destroy())
  )
)
