import { hash } from "node:crypto"
import { authorizationFaults } from "../../../domain/integrations/Authorization.ts"
import type { Outcome } from "../../../layers/integrations/authorization/Authorizations.ts"

/** The same for everybody, so that nothing but it may run; what differs is read from the page as data. */
const script = `
const { message, origin } = JSON.parse(document.getElementById("data").textContent)
history.replaceState(null, "", location.pathname)
if (message && window.opener) window.opener.postMessage(message, origin)
if (message && message.confirmation && !window.opener) {
  document.getElementById("told").hidden = true
  document.getElementById("alone").hidden = false
} else if (message && message.status === "success") setTimeout(() => window.close(), 150)
`

const style = `
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem; text-align: center }
`

const digestOf = (text: string) => `'sha256-${hash("sha256", text, "base64")}'`

/** Kept nowhere, shown in nobody's frame, telling nobody where it was; but it must keep its hold on the window before. */
export const pageHeaders = {
  "cache-control": "no-store",
  pragma: "no-cache",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex",
  "cross-origin-opener-policy": "unsafe-none",
  "content-security-policy": [
    "default-src 'none'",
    `script-src ${digestOf(script)}`,
    `style-src ${digestOf(style)}`,
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

/** JSON that cannot end the element it stands in. */
const embedded = (value: unknown) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (each) => escapes[each] ?? "")

/** What the page that began is told: nothing that opens anything by itself. */
const messageOf = ({ begun, confirmation, fault }: Outcome) =>
  begun === undefined
    ? undefined
    : {
        type: "integration.oauth",
        v: 1,
        status: fault === undefined ? "success" : "error",
        integrationId: begun.integration,
        provider: begun.provider,
        confirmation,
        code: fault
      }

const done = "Thank you. You can close this window and go back to where you began."
const alone =
  "This window has lost the one it was opened from, so that nothing was authorized. Please close it and begin again there."

/** The page a provider's popup ends on: it tells the window that opened it what came of it, and closes. */
export const authorizationPage = (outcome: Outcome) => {
  const told = outcome.fault === undefined ? done : authorizationFaults[outcome.fault]
  const data = embedded({ origin: outcome.begun?.origin, message: messageOf(outcome) })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Authorization</title>
<style>${style}</style>
<p id="told">${told}</p>
<p id="alone" hidden>${alone}</p>
<script type="application/json" id="data">${data}</script>
<script>${script}</script>
</html>
`
}
