import { parseCallbackPage } from "../../test/support/assertions/callbackPage.ts"
import type { Api, CreatedResource } from "./api.ts"
import { applicationOrigin } from "./fakeServers.ts"

export interface Integration extends CreatedResource {
  readonly status: string
  readonly statusReason?: string
  readonly isAuthorized: boolean
}

/** Authorizes an integration, in the place of the application's page, its user and the popup. */
export const authorize = async (api: Api, integration: CreatedResource) => {
  // The page requests the authorization URL and opens it in a popup.
  const { authorizationUrl } = await api.post<{ readonly authorizationUrl: string }>(
    `/integrations/${integration.id}/authorize`,
    { origin: applicationOrigin }
  )

  // The user consents and is redirected to the service. The browser sends no token.
  const consentResponse = await fetch(authorizationUrl, { redirect: "manual" })
  const callbackResponse = await fetch(consentResponse.headers.get("location") ?? authorizationUrl)
  if (!callbackResponse.ok)
    throw new Error(`The callback returned ${callbackResponse.status}: ${await callbackResponse.text()}`)

  // The popup posts the result to the page that opened it, and closes.
  const { message } = parseCallbackPage({ text: await callbackResponse.text() })
  if (message?.status !== "success") throw new Error(`Nothing was authorized: ${message?.code ?? "no reason given"}`)

  // The page confirms the authorization as the user who started it.
  const { confirmation } = message
  const { isAuthorized } = await api.post<Integration>(`/integrations/${integration.id}/confirm`, { confirmation })
  if (!isAuthorized) throw new Error("It was confirmed, but is not authorized")
}

export const subscribe = (api: Api, integration: CreatedResource, eventType: string) =>
  api.post(`/integrations/${integration.id}/subscriptions`, { eventType })
