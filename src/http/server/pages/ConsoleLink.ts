import { Data, Effect } from "effect"
import { signDevelopmentToken } from "../../../layers/infra/auth/DevelopmentKey.ts"
import type { SettingsShape } from "../../../layers/infra/config/Settings.ts"
import { consolePath } from "./Console.ts"
import { signInCodePath } from "./ConsoleSignIn.ts"
import { developmentSubject } from "./DevelopmentToken.ts"

class NoSignInLink extends Data.TaggedError("NoSignInLink")<{ readonly url: string; readonly reason: string }> {
  override get message() {
    return `No service at ${this.url} issues a link to its console (${this.reason}). Is it running with the same DATA_DIR?`
  }
}

const loopbackOfWildcard: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" }

/** The address of the api for programs on the same machine. */
export const baseUrlOf = ({ HOST, PORT }: SettingsShape) => {
  const host = loopbackOfWildcard[HOST] ?? HOST
  return `http://${host.includes(":") ? `[${host}]` : host}:${PORT}`
}

const requestCode = async (url: string, token: string) => {
  // Without keep-alive: an open connection would delay the api's graceful shutdown.
  const headers = { authorization: `Bearer ${token}`, connection: "close" }
  const response = await fetch(url, { method: "POST", headers })
  if (!response.ok) throw new Error(`it answered ${response.status}`)
  return response.text()
}

/** A link that signs a browser in once. The code is in the fragment, which browsers send to no server. */
export const requestSignInLink = (baseUrl: string) =>
  Effect.flatMap(signDevelopmentToken(developmentSubject, 60), (token) =>
    Effect.tryPromise({
      try: () => requestCode(`${baseUrl}${signInCodePath}`, token),
      catch: (cause) =>
        new NoSignInLink({ url: baseUrl, reason: cause instanceof Error ? cause.message : String(cause) })
    })
  ).pipe(Effect.map((code) => `${baseUrl}${consolePath}#code=${code}`))
