import { Console, Effect } from "effect"
import { baseUrlOf, requestSignInLink } from "../http/server/pages/ConsoleLink.ts"
import { acceptsDevelopmentTokens } from "../layers/infra/auth/DevelopmentKey.ts"
import { Settings } from "../layers/infra/config/Settings.ts"
import { UnusableArguments } from "./UnusableArguments.ts"

/** Prints a new link into the console of the service that runs on this machine. */
export const run = () =>
  Effect.gen(function* () {
    const settings = yield* Settings
    if (!acceptsDevelopmentTokens(settings))
      return yield* Effect.fail(new UnusableArguments({ message: "only development tokens can be had by a link" }))
    yield* Console.log(yield* requestSignInLink(baseUrlOf(settings)))
  })
