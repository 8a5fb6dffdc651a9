import { effect, signal } from "@preact/signals"
import { api, readAll } from "../api/client.ts"
import { pageSettings, tenants, token } from "../api/session.ts"

/** What the page shows before there is a token. */
export const signInState = signal<{ readonly phase: "working" | "signedOut" | "ready"; readonly error?: string }>({
  phase: "working"
})

/** Where to go after the identity provider has sent the browser back. */
let returnTo = location.pathname + location.search

const callbackPath = "/console/callback"

/** Takes the one-time code out of the address, so that neither history nor a copied address holds it. */
const takeCode = () => {
  const code = new URLSearchParams(location.hash.slice(1)).get("code")
  if (code !== null) history.replaceState(null, "", location.pathname + location.search)
  return code
}

const redeemCode = async (code: string) => {
  const response = await fetch("/console/sign-in", { method: "POST", headers: { authorization: `Bearer ${code}` } })
  if (!response.ok) throw new Error("This link was used already, or is too old. Ask for another one.")
  token.value = await response.text()
}

const loadTenants = async () => {
  tenants.value = await readAll((cursor) =>
    api.GET("/api/v1/tenants", { params: { query: { ...(cursor && { cursor }) } } })
  )
  signInState.value = { phase: "ready" }
}

const completeAtProvider = async (oidc: NonNullable<typeof pageSettings.oidc>) => {
  const address = new URL(location.href)
  history.replaceState(null, "", "/console")
  const { completeSignIn } = await import("../api/oidc.ts")
  returnTo = await completeSignIn(oidc, address)
  history.replaceState(null, "", returnTo)
}

/** Asks the identity provider without a page of its own. It answers at once, also if nobody is signed in there. */
const askSilently = async (oidc: NonNullable<typeof pageSettings.oidc>) => {
  const { beginSignIn } = await import("../api/oidc.ts")
  await beginSignIn(oidc, returnTo, { silent: true })
}

export const signInAtProvider = async () => {
  const { oidc } = pageSettings
  if (oidc === undefined) return
  const { beginSignIn } = await import("../api/oidc.ts")
  await beginSignIn(oidc, returnTo.startsWith(callbackPath) ? "/console" : returnTo)
}

const isSilentRefusal = (cause: unknown) =>
  cause instanceof Error &&
  "error" in cause &&
  /^(login|interaction|consent|account_selection)_required$/.test(String(cause.error))

/** Signs in by the link, by the answer of the identity provider, or silently. */
export const signIn = async () => {
  const { oidc } = pageSettings
  try {
    const code = takeCode()
    if (code !== null) await redeemCode(code)
    else if (oidc !== undefined && location.pathname === callbackPath) await completeAtProvider(oidc)
    else if (oidc !== undefined) return await askSilently(oidc)
    if (token.value === undefined) signInState.value = { phase: "signedOut" }
    else await loadTenants()
  } catch (cause) {
    const error = cause instanceof Error ? cause.message : String(cause)
    signInState.value = isSilentRefusal(cause) ? { phase: "signedOut" } : { phase: "signedOut", error }
  }
}

/** A link that is opened on the page itself changes only the fragment, and loads nothing. */
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#code=")) void signIn()
})

/** A token that the service no longer accepts ends the session. */
effect(() => {
  if (token.value === undefined && signInState.peek().phase === "ready")
    signInState.value = { phase: "signedOut", error: "Your session has ended. Please sign in again." }
})

/** Opens the tenant that was just created. */
export const addTenant = (created: (typeof tenants.value)[number]) => {
  tenants.value = [...tenants.value, created]
}
