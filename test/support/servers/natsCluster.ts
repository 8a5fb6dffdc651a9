import { connect, ErrorCode, NatsError } from "nats"
import type { SettingsShape } from "../../../src/layers/infra/config/Settings.ts"
import { makeNatsNames } from "../../../src/layers/infra/nats/NatsNames.ts"

/** Whether this run has three NATS servers, of which one at a time is killed. */
export const isClusterRun = process.env["TEST_NATS_CLUSTER"] !== undefined

/** The default time for a condition, in seconds. In a cluster, several kills may fall into it. */
export const defaultWaitSeconds = isClusterRun ? 120 : 60

const transientCodes: ReadonlyArray<string> = [ErrorCode.Timeout, ErrorCode.NoResponders, ErrorCode.JetStreamNotEnabled]

const isTransient = (error: unknown) => error instanceof NatsError && transientCodes.includes(error.code)

/** Sends a request of a test again while the server that leads the stream is being replaced. */
export const untilAnswered = async <A>(request: () => Promise<A>): Promise<A> => {
  const end = Date.now() + defaultWaitSeconds * 1000
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!isTransient(error) || Date.now() > end) throw error
    }
  }
}

/** Deletes the streams of a service: a killed server takes part in an election for each stream that is left. */
export const deleteStreams = async ({ NATS_NAMESPACE, NATS_URL }: SettingsShape) => {
  const connection = await connect({ servers: [...(NATS_URL ?? [])] })
  try {
    const { streams } = await untilAnswered(() => connection.jetstreamManager())
    const { events, inbound, integrations } = makeNatsNames(NATS_NAMESPACE)
    for (const { stream } of [events, inbound, integrations]) {
      await untilAnswered(() => streams.delete(stream)).catch((error: unknown) => {
        // The service has used no stream, or an answer was lost after the deletion.
        if (!(error instanceof NatsError && error.api_error?.code === 404)) throw error
      })
    }
  } finally {
    await connection.close()
  }
}
