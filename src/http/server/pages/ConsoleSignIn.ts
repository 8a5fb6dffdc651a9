import type { IncomingMessage } from "node:http"
import { Effect } from "effect"
import { Unauthorized } from "../../../domain/Errors.ts"
import { acceptsDevelopmentTokens, signDevelopmentToken } from "../../../layers/infra/auth/DevelopmentKey.ts"
import { SignInCodes } from "../../../layers/infra/auth/SignInCodes.ts"
import { TokenVerifier } from "../../../layers/infra/auth/TokenVerifier.ts"
import { Settings } from "../../../layers/infra/config/Settings.ts"
import type { PlainRoute } from "../AnonymousRequests.ts"
import { consolePath } from "./Console.ts"

/** Issues a code to the holder of a development token, such as the program that prints the link. */
export const signInCodePath = `${consolePath}/sign-in-code`
/** Exchanges a code for a development token. */
const signInPath = `${consolePath}/sign-in`

const tokenLifetimeSeconds = 8 * 60 * 60

const bearerOf = ({ headers: { authorization = "" } }: IncomingMessage) =>
  authorization.startsWith("Bearer ") ? authorization.slice("Bearer ".length) : ""

const textResponse = (body: string) => ({
  status: 200,
  headers: { "content-type": "text/plain", "cache-control": "no-store" },
  body
})

/** How a link signs a browser in during development. No other issuer's tokens can be had this way. */
export const makeConsoleSignInRoutes = Effect.gen(function* () {
  const settings = yield* Settings
  const verifier = yield* TokenVerifier
  if (settings.CONSOLE === "off" || !acceptsDevelopmentTokens(settings)) return []
  const codes = new SignInCodes()
  const routes: ReadonlyArray<PlainRoute> = [
    {
      method: "POST",
      path: signInCodePath,
      respond: (request) =>
        Effect.map(verifier.verify(bearerOf(request)), ({ subject }) => textResponse(codes.issue(subject, Date.now())))
    },
    {
      method: "POST",
      path: signInPath,
      respond: (request) =>
        Effect.suspend(() => {
          const subject = codes.redeem(bearerOf(request), Date.now())
          return subject === undefined
            ? Effect.fail(new Unauthorized())
            : Effect.provideService(signDevelopmentToken(subject, tokenLifetimeSeconds), Settings, settings)
        }).pipe(Effect.map(textResponse))
    }
  ]
  return routes
})
