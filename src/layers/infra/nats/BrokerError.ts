import { Data, Effect } from "effect"
import { ErrorCode, NatsError } from "nats"

/** The JetStream error codes that callers handle. */
export const jetStreamErrorCodes = {
  clusterNotAvailable: 10008,
  clusterNotLeader: 10009,
  consumerNotFound: 10014,
  streamNameInUse: 10058,
  streamNotFound: 10059,
  consumerExists: 10148
} as const

const messages: Readonly<Record<string, string>> = {
  [ErrorCode.Timeout]: "The message broker did not answer in time",
  [ErrorCode.NoResponders]: "The message broker has no stream for the message",
  [ErrorCode.MaxPayloadExceeded]: "The message is larger than the message broker accepts"
}

const describeCause = (cause: unknown) => {
  if (cause instanceof NatsError)
    return cause.api_error?.description ?? messages[cause.code] ?? `The message broker failed: ${cause.message}`
  return cause instanceof Error ? cause.message : String(cause)
}

export class BrokerError extends Data.TaggedError("BrokerError")<{ readonly cause: unknown }> {
  override get message() {
    return describeCause(this.cause)
  }

  /**
   * JetStream reports a missing stream by code; a publish to a missing stream gets "no responders". The client gives the
   * same code to errors of JetStream with status 503, such as a full stream.
   */
  get isStreamMissing() {
    const { cause } = this
    const hasNoResponders =
      cause instanceof NatsError && cause.code === ErrorCode.NoResponders && cause.api_error === undefined
    return hasNoResponders || this.hasCode("streamNotFound")
  }

  /** Whether the stream may have no leader: a cluster elects another within seconds. */
  get isLeaderless() {
    const isTimeout = this.cause instanceof NatsError && this.cause.code === ErrorCode.Timeout
    return isTimeout || this.isStreamMissing || this.hasCode("clusterNotAvailable") || this.hasCode("clusterNotLeader")
  }

  /** The code of JetStream or of the NATS client, for metrics. */
  get code() {
    return this.cause instanceof NatsError ? String(this.cause.api_error?.err_code ?? this.cause.code) : "AWAY"
  }

  hasCode(name: keyof typeof jetStreamErrorCodes) {
    return this.cause instanceof NatsError && this.cause.api_error?.err_code === jetStreamErrorCodes[name]
  }
}

/** Runs a NATS call and maps its failure to a `BrokerError`. */
export const callBroker = <A>(request: () => Promise<A>) =>
  Effect.tryPromise({ try: request, catch: (cause) => new BrokerError({ cause }) })
