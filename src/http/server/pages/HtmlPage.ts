import { hash } from "node:crypto"
import type { HttpResponse } from "../response/HttpResponse.ts"

/** The source of a Content-Security-Policy that allows one inline script or style. */
export const cspHashOf = (text: string) => `'sha256-${hash("sha256", text, "base64")}'`

/** An HTML page that loads only what `allowed` lists, and that no other page can embed. */
export const htmlResponse = (body: string, ...allowed: ReadonlyArray<string>): HttpResponse => ({
  status: 200,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": [
      "default-src 'none'",
      ...allowed,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'"
    ].join("; "),
    "referrer-policy": "no-referrer"
  },
  body
})
