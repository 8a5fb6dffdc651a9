import { HttpApiError, HttpApiMiddleware, HttpApiSecurity } from "@effect/platform"
import { Context, Effect, Layer, Redacted } from "effect"
import { type Principal, verifyToken } from "../tokens.ts"

export class CurrentPrincipal extends Context.Tag("stock/CurrentPrincipal")<CurrentPrincipal, Principal>() {}

export class Authentication extends HttpApiMiddleware.Tag<Authentication>()("stock/Authentication", {
  failure: HttpApiError.Unauthorized,
  provides: CurrentPrincipal,
  security: { bearer: HttpApiSecurity.bearer }
}) {}

export const AuthenticationLive = Layer.succeed(Authentication, {
  bearer: (token) =>
    Effect.tryPromise({
      try: () => verifyToken(Redacted.value(token)),
      catch: () => new HttpApiError.Unauthorized()
    })
})
