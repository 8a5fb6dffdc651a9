import { Effect, Stream } from "effect"
import { toClientPage } from "../../domain/clientPage/ClientPage.ts"
import { isLinkToken } from "../../domain/clientPage/InvoiceLink.ts"
import { type ApiError, NotFound } from "../../domain/Errors.ts"
import { etagOfDigest } from "../../domain/Etag.ts"
import { pdfNameOf } from "../../domain/invoicing/document/FileName.ts"
import { variantOf } from "../../domain/invoicing/document/InvoiceFile.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { ClientPages } from "../../layers/clientPage/ClientPages.ts"
import { InvoiceLinks, type OpenedLink } from "../../layers/clientPage/InvoiceLinks.ts"
import { Broker } from "../../layers/infra/nats/Broker.ts"
import { InvoicePdfs } from "../../layers/invoicing/document/InvoicePdfs.ts"
import { Invoices } from "../../layers/invoicing/Invoices.ts"
import { savedPdf } from "../invoicing/FileResult.ts"
import type { PageRoute } from "../server/AnonymousRequests.ts"
import { renderClientPage } from "../server/pages/clientPage/PageHtml.ts"
import { pageErrorResponse, pageHeaders, pageResponse } from "../server/pages/clientPage/PageResponse.ts"
import { makePageAdmission } from "../server/request/PageAdmission.ts"
import type { RequestState } from "../server/request/RequestState.ts"
import { HandlerResult, StreamedBody } from "../server/response/HandlerResult.ts"
import { type HttpResponse, toHttpResponse } from "../server/response/HttpResponse.ts"

const dependencies = Effect.all({
  links: InvoiceLinks,
  pages: ClientPages,
  invoices: Invoices,
  pdfs: InvoicePdfs
})

/** The part of the page that a request asks for. */
interface PageRequest {
  readonly call: RequestState
  readonly link: OpenedLink
  readonly token: string
  /** The address of the client and the tenant. */
  readonly keys: ReadonlyArray<string>
}

type Show = (request: PageRequest) => Effect.Effect<HttpResponse, ApiError, CurrentTenant>

const withPageHeaders = (response: HttpResponse): HttpResponse => ({
  ...response,
  headers: { ...response.headers, ...pageHeaders }
})

/** The pages of invoices for clients. Who has the token of an invoice opens its page, its PDF and its logo. */
export const makeClientPageRoutes = Effect.gen(function* () {
  const { invoices, links, pages, pdfs } = yield* dependencies
  const { admit, requireRate } = yield* makePageAdmission
  const { wake } = yield* Broker

  /** A token of another form costs no look-up. Every token that opens nothing gets the same response. */
  const open = (call: RequestState, show: Show) =>
    Effect.gen(function* () {
      const [address = ""] = call.share.keys
      yield* requireRate(address, call.responseHeaders)
      const { token = "" } = call.params
      const link = isLinkToken(token) ? yield* admit([address], links.findByToken(token)) : undefined
      if (link === undefined) return yield* Effect.fail(new NotFound())
      const keys = [address, `tenant ${link.tenant}`]
      return yield* Effect.provideService(show({ call, link, token, keys }), CurrentTenant, link.tenant)
    })

  /** The page is shown even if this fails, such as on a read-only database. The next opening tries again. */
  const recordView = (link: OpenedLink) =>
    links.recordView(link).pipe(
      Effect.flatMap((isFirst) => (isFirst ? Effect.sync(wake) : Effect.void)),
      Effect.catchAllCause((cause) => Effect.logWarning("The first opening of a page was not recorded", cause))
    )

  const showPage: Show = ({ call, keys, link, token }) => {
    // Recorded first: an invoice that is voided meanwhile waits for it, or the page shows that it is void.
    const load = Effect.gen(function* () {
      if (call.request.method === "GET" && link.viewedAt === null) yield* recordView(link)
      return yield* pages.load(link.invoice)
    })
    return Effect.map(admit(keys, load), (source) => {
      const page = toClientPage(source, new Date().toISOString())
      return pageResponse(200, renderClientPage(page, token))
    })
  }

  const showPdf: Show = Effect.fnUntraced(function* ({ call, keys, link }) {
    const invoice = yield* admit(keys, invoices.get(link.invoice))
    const variant = variantOf(invoice)
    if (variant === undefined) return yield* Effect.fail(new NotFound())
    const file = yield* pdfs.getIssued(invoice, variant, call.share.keys)
    const result = yield* savedPdf(pdfNameOf(invoice), file, pdfs.read)
    return withPageHeaders(toHttpResponse(call.request, 200, result))
  })

  const showLogo: Show = Effect.fnUntraced(function* ({ call, keys, link }) {
    const logo = yield* admit(keys, pages.findLogo(link.invoice))
    if (logo === undefined) return yield* Effect.fail(new NotFound())
    const bytes = Stream.provideService(pages.readLogo(logo), CurrentTenant, link.tenant)
    const headers = { "content-type": logo.contentType, etag: etagOfDigest(logo.digest) }
    const result = new HandlerResult(new StreamedBody(logo.sizeBytes, bytes), { headers })
    return withPageHeaders(toHttpResponse(call.request, 200, result))
  })

  const route = (part: "" | "/pdf" | "/logo", show: Show): PageRoute => ({
    path: `/i/:token${part}`,
    name: `/i/{token}${part}`,
    respond: (call) => open(call, show),
    toErrorResponse: pageErrorResponse
  })

  return [route("", showPage), route("/pdf", showPdf), route("/logo", showLogo)]
})
