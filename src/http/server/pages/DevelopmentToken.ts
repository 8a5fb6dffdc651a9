import type { IncomingMessage } from "node:http"
import { Effect } from "effect"
import { NotFound } from "../../../domain/Errors.ts"
import { acceptsDevelopmentTokens, signDevelopmentToken } from "../../../layers/infra/auth/DevelopmentKey.ts"
import { parseAddress } from "../../../layers/infra/config/AddressRange.ts"
import { Settings } from "../../../layers/infra/config/Settings.ts"
import type { PlainRoute } from "../AnonymousRequests.ts"

/** The subject of the README's examples, so that the page shows what they made. */
export const developmentSubject = "alice"
const lifetimeSeconds = 24 * 60 * 60

export const developmentTokenPath = "/docs/development-token"

const localHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** Whether a page of this service sends the request, opened on this machine and under a name that only this machine has. */
const isFromLocalPage = ({ headers, socket }: IncomingMessage) =>
  headers["sec-fetch-site"] === "same-origin" &&
  localHost.test(headers.host ?? "") &&
  parseAddress(socket.remoteAddress ?? "")?.range() === "loopback"

/** A token for the documentation page. There is no such route where another issuer signs the tokens. */
export const makeDevelopmentTokenRoutes = Effect.map(
  Settings,
  (settings): ReadonlyArray<PlainRoute> =>
    acceptsDevelopmentTokens(settings)
      ? [
          {
            path: developmentTokenPath,
            respond: (request) =>
              isFromLocalPage(request)
                ? Effect.map(
                    Effect.provideService(
                      signDevelopmentToken(developmentSubject, lifetimeSeconds),
                      Settings,
                      settings
                    ),
                    (body) => ({
                      status: 200,
                      headers: { "content-type": "text/plain", "cache-control": "no-store" },
                      body
                    })
                  )
                : Effect.fail(new NotFound())
          }
        ]
      : []
)
