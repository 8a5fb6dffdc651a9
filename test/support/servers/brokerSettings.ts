import { inject } from "vitest"

/** The server reserves the size of every stream, and a test run has hundreds. */
const streamBytes = 16 * 1024 ** 2

/** The settings for the NATS servers of this run, or for others. */
export const brokerSettings = (natsUrl = inject("natsUrl")) => ({
  NATS_URL: natsUrl,
  NATS_REPLICAS: String(natsUrl.split(",").length),
  NATS_STREAM_MAX_BYTES: String(streamBytes)
})
