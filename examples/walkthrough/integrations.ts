import { parseCallbackPage } from "../../test/support/assertions/callbackPage.ts"
import type { Api, Made } from "./api.ts"
import { applicationOrigin } from "./standIns.ts"

export interface Integration extends Made {
  readonly status: string
  readonly statusReason?: string
  readonly isAuthorized: boolean
}

/** What the page of an application, its user and the popup do to authorize an integration. */
export const authorize = async (api: Api, integration: Made) => {
  // The page asks where its user is to consent, and opens that address in a popup.
  const { authorizationUrl } = await api.post<{ readonly authorizationUrl: string }>(
    `/integrations/${integration.id}/authorize`,
    { origin: applicationOrigin }
  )

  // The user consents there and is sent back to the service. A browser brings no token along.
  const consented = await fetch(authorizationUrl, { redirect: "manual" })
  const callback = await fetch(consented.headers.get("location") ?? authorizationUrl)
  if (!callback.ok) throw new Error(`The callback was answered ${callback.status}: ${await callback.text()}`)

  // The popup hands what it was told to the page that opened it, and closes.
  const { message } = parseCallbackPage({ text: await callback.text() })
  if (message?.status !== "success") throw new Error(`Nothing was authorized: ${message?.code ?? "no reason given"}`)

  // The page confirms it in the name of the user who began.
  const { confirmation } = message
  const { isAuthorized } = await api.post<Integration>(`/integrations/${integration.id}/confirm`, { confirmation })
  if (!isAuthorized) throw new Error("It was confirmed, but is not authorized")
}

export const subscribe = (api: Api, integration: Made, eventType: string) =>
  api.post(`/integrations/${integration.id}/subscriptions`, { eventType })
