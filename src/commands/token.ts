import { parseArgs } from "node:util"
import { Console, Effect } from "effect"
import { signDevelopmentToken } from "../layers/infra/auth/DevelopmentKey.ts"
import { Settings } from "../layers/infra/config/Settings.ts"
import { UnusableArguments } from "./UnusableArguments.ts"

const failWith = (message: string) => Effect.fail(new UnusableArguments({ message }))

/** Prints a bearer token for development. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { values } = parseArgs({
      args: [...args],
      options: { sub: { type: "string" }, "expires-in": { type: "string", default: "86400" } }
    })
    const seconds = Number(values["expires-in"])
    if (values.sub === undefined) return yield* failWith("--sub is required: the subject of the token")
    if (!Number.isInteger(seconds)) return yield* failWith("--expires-in must be a whole number of seconds")
    if ((yield* Settings).NODE_ENV === "production")
      return yield* failWith("development tokens cannot be issued in production")
    yield* Console.log(yield* signDevelopmentToken(values.sub, seconds))
  })
