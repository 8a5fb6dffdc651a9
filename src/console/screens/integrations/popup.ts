import { api, read } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"

/** What the last page of the popup posts to this page. */
interface PopupMessage {
  readonly integrationId: string
  readonly confirmation?: string
  readonly code?: string
}

const isMessageFor = (integrationId: string, data: unknown): data is PopupMessage =>
  typeof data === "object" &&
  data !== null &&
  "type" in data &&
  data.type === "integration.oauth" &&
  "integrationId" in data &&
  data.integrationId === integrationId

const closedCheckMs = 500

/** The callback posts its message from the origin that the provider sends the popup back to. */
const callbackOriginOf = (authorizationUrl: string) =>
  new URL(new URL(authorizationUrl).searchParams.get("redirect_uri") ?? location.origin).origin

const waitForMessage = (popup: Window, integrationId: string, trusted: string) =>
  new Promise<PopupMessage>((resolve, reject) => {
    const stop = () => {
      removeEventListener("message", listen)
      clearInterval(timer)
    }
    const listen = ({ data, origin }: MessageEvent) => {
      if (origin !== trusted || !isMessageFor(integrationId, data)) return
      stop()
      resolve(data)
    }
    const timer = setInterval(() => {
      if (!popup.closed) return
      stop()
      reject(new Error("The window was closed before the authorization was complete"))
    }, closedCheckMs)
    addEventListener("message", listen)
  })

const failureTexts: Readonly<Record<string, string>> = {
  access_denied: "The authorization was declined",
  insufficient_scope: "A required permission was not granted"
}

/** Leads through the consent page of the provider in a popup, and confirms what came of it. Call it from a click. */
export const authorizeInPopup = async (integrationId: string) => {
  // Before any request: browsers block a popup that no click opens.
  const popup = open("", "authorize", "width=600,height=720")
  if (popup === null) throw new Error("The browser blocked the window. Allow popups for this page.")
  const params = { path: { integrationId } }
  let isEmpty = true
  try {
    const { authorizationUrl } = await withKey(`authorize ${integrationId}`, (headers) =>
      read(
        api.POST("/api/v1/integrations/{integrationId}/authorize", {
          params,
          body: { origin: location.origin },
          headers
        })
      )
    )
    const message = waitForMessage(popup, integrationId, callbackOriginOf(authorizationUrl))
    popup.location.replace(authorizationUrl)
    isEmpty = false
    const { code, confirmation } = await message
    if (confirmation === undefined)
      throw new Error(failureTexts[code ?? ""] ?? "The provider could not complete the authorization")
    return await withKey(`confirm ${integrationId}`, (headers) =>
      read(api.POST("/api/v1/integrations/{integrationId}/confirm", { params, body: { confirmation }, headers }))
    )
  } catch (cause) {
    // An empty window that a failed request leaves behind helps nobody; the page of a failure says why.
    if (isEmpty) popup.close()
    throw cause
  }
}
