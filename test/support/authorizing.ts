import { assert } from "vitest"
import { type AuthorizationServer, startAuthorizationServer, trustedOrigin } from "./authorizationServer.ts"
import { dataIn } from "./callbackPage.ts"
import { integrationsIn, type ShownIntegration } from "./integrations.ts"
import type { Service } from "./service.ts"
import { startInTenant } from "./staging.ts"

export const leastJira = { provider: "JIRA", name: "Tracker" }
export const leastDrive = { provider: "GOOGLE_DRIVE", name: "Drive", config: { folderId: "folder-1" } }

/** The steps of an authorization in a tenant, one request each. What is named in the past tense must succeed. */
export const authorizingIn = (service: Service, server: AuthorizationServer, tenant: string, as = "owner") => {
  const integrations = integrationsIn(service, tenant, as)
  const begin = (id: string, origin: string = trustedOrigin) =>
    integrations.call("POST", `/${id}/authorize`, { origin })
  const callback = (query: Readonly<Record<string, string>>, bearer?: string) =>
    service.api("GET", `/integrations/oauth/callback?${new URLSearchParams(query)}`, {
      ...(bearer === undefined ? {} : { as: bearer })
    })
  const confirm = (id: string, confirmation: string) => integrations.call("POST", `/${id}/confirm`, { confirmation })

  const begun = async (id: string) => {
    const { body, status, text } = await begin(id)
    assert.strictEqual(status, 200, text)
    return String(body.data.authorizationUrl)
  }
  const consented = async (id: string, scope?: string) => server.consent(await begun(id), scope)

  /** The confirmation of a grant that waits. */
  const waiting = async (id: string) => {
    const page = await callback(await consented(id))
    assert.strictEqual(page.status, 200, page.text)
    return dataIn(page).message?.confirmation ?? assert.fail(page.text)
  }
  const shown = async (id: string): Promise<ShownIntegration> => (await integrations.get(id)).body.data

  const authorized = async (fields: object = leastDrive) => {
    const { id } = await integrations.made(fields)
    const page = await callback(await consented(id), as)
    assert.strictEqual(page.status, 200, page.text)
    assert.deepInclude(await shown(id), { status: "ACTIVE", isAuthorized: true })
    return id
  }
  return { ...integrations, begin, begun, callback, confirm, consented, waiting, shown, authorized }
}

export type Authorizing = ReturnType<typeof authorizingIn>

/** The service with a tenant in it, and the server that is both of its providers. */
export const startWithProviders = async (environment: Readonly<Record<string, string>> = {}) => {
  const server = await startAuthorizationServer()
  const started = await startInTenant({ ...server.environment, ...environment })
  const stop = async () => {
    await started.stop()
    await server.stop()
  }
  return { ...started, server, stop }
}
