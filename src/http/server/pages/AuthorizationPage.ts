import { authorizationErrorMessages } from "../../../domain/integrations/Authorization.ts"
import type { AuthorizationResult } from "../../../layers/integrations/authorization/Authorizations.ts"
import { cspHashOf } from "./HtmlPage.ts"

/** Constant, so that the Content-Security-Policy can allow it by hash. The request's values are JSON in the page. */
const script = `
const { message, origin } = JSON.parse(document.getElementById("data").textContent)
history.replaceState(null, "", location.pathname)
if (message && window.opener) window.opener.postMessage(message, origin)
if (message && message.confirmation && !window.opener) {
  document.getElementById("outcome").hidden = true
  document.getElementById("no-opener").hidden = false
} else if (message && message.status === "success") setTimeout(() => window.close(), 150)
`

const style = `
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem; text-align: center }
`

/** No caching, no framing, no referrer. `unsafe-none` keeps `window.opener`, which the script needs. */
export const authorizationPageHeaders = {
  "cache-control": "no-store",
  pragma: "no-cache",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex",
  "cross-origin-opener-policy": "unsafe-none",
  "content-security-policy": [
    "default-src 'none'",
    `script-src ${cspHashOf(script)}`,
    `style-src ${cspHashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029"
}

/** JSON that cannot close the script element around it. */
const toEmbeddedJson = (value: unknown) =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? "")

/** The message to the opener. It holds no credential: the confirmation needs an authenticated call of its own. */
const messageOf = ({ oauthState, confirmation, errorCode }: AuthorizationResult) =>
  oauthState === undefined
    ? undefined
    : {
        type: "integration.oauth",
        v: 1,
        status: errorCode === undefined ? "success" : "error",
        integrationId: oauthState.integration,
        provider: oauthState.provider,
        confirmation,
        code: errorCode
      }

const successText = "Thank you. You can close this window and return to the page that opened it."
const noOpenerText =
  "This window lost its connection to the page that opened it, so nothing was authorized. Please close it and start again."

/** The last page of the OAuth popup: it posts the outcome to its opener and closes itself. */
export const authorizationPage = (outcome: AuthorizationResult) => {
  const outcomeText = outcome.errorCode === undefined ? successText : authorizationErrorMessages[outcome.errorCode]
  const data = toEmbeddedJson({ origin: outcome.oauthState?.origin, message: messageOf(outcome) })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Authorization</title>
<style>${style}</style>
<p id="outcome">${outcomeText}</p>
<p id="no-opener" hidden>${noOpenerText}</p>
<script type="application/json" id="data">${data}</script>
<script>${script}</script>
</html>
`
}
