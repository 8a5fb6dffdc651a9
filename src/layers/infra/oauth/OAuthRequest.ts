import { Data, Effect } from "effect"
import { type ProviderRequest, type ProviderResponse, sendProviderRequest } from "../providerHttp/ProviderRequest.ts"

/** The provider sent no usable response. Whether it executed the request is unknown. */
export class ProviderUnavailable extends Data.TaggedError("ProviderUnavailable")<{ readonly message: string }> {}

const timeoutMs = 10_000

const isTemporary = (status: number) => status >= 500 || status === 429 || status === 408

/** Sends one request with a timeout. Fails on 5xx, 429 and 408. */
export const sendOAuthRequest = (request: ProviderRequest): Effect.Effect<ProviderResponse, ProviderUnavailable> =>
  sendProviderRequest({ ...request, timeoutMs }).pipe(
    Effect.mapError(({ message }) => new ProviderUnavailable({ message })),
    Effect.filterOrFail(
      ({ status }) => !isTemporary(status),
      ({ status }) => new ProviderUnavailable({ message: `The provider answered ${status}` })
    )
  )
