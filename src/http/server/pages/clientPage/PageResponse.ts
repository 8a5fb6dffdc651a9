import type { ApiError } from "../../../../domain/Errors.ts"
import { html } from "../../../../domain/Html.ts"
import type { HttpResponse } from "../../response/HttpResponse.ts"
import { errorHeadersOf, errorStatusOf } from "../../response/WireErrors.ts"
import { cspHashOf, htmlResponse } from "../HtmlPage.ts"
import { type PageDocument, renderDocument } from "./PageDocument.ts"
import { pageStyle } from "./PageStyle.ts"

/** Headers of everything below a token: kept by no cache and no search engine, and the token by no other site. */
export const pageHeaders = {
  "cache-control": "private, no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex"
}

const allowed = [`style-src ${cspHashOf(pageStyle)}`, "img-src 'self' data:"]

export const pageResponse = (status: number, document: PageDocument): HttpResponse => {
  const { body, headers } = htmlResponse(renderDocument(document), ...allowed)
  return { status, headers: { ...headers, ...pageHeaders }, body }
}

/** The title and the text of an error. Another one is ours. */
const errorTexts: Readonly<Partial<Record<ApiError["_tag"], readonly [title: string, text: string]>>> = {
  NotFound: [
    "This link does not open an invoice",
    "It is incomplete, or it was replaced or revoked. Please ask the sender of the invoice for a new link."
  ],
  TooManyRequests: ["Please try again in a moment", "There are too many requests from your network."],
  ServiceUnavailable: ["Please try again in a moment", "The invoice cannot be shown right now."]
}
const internalError = ["The invoice cannot be shown", "An error occurred. Please try again later."] as const

/** The page of an error, in English: the language of a client is only known with an invoice. */
export const pageErrorResponse = (error: ApiError): HttpResponse => {
  const [title, text] = errorTexts[error._tag] ?? internalError
  const content = html`<main class="sheet error"><section><h1>${title}</h1><p>${text}</p></section></main>`
  const response = pageResponse(errorStatusOf(error), { language: "en", title, content })
  return { ...response, headers: { ...response.headers, ...errorHeadersOf(error) } }
}
