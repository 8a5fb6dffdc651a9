import { HttpApi, type HttpApiGroup, OpenApi } from "@effect/platform"
import { ApiError } from "../../domain/Errors.ts"
import { eventSchemas } from "../../domain/events/Event.ts"
import { AssetsApi } from "../branding/AssetsApi.ts"
import { InvoiceLinksApi } from "../clientPage/InvoiceLinksApi.ts"
import { AddressesApi } from "../contracting/AddressesApi.ts"
import { ClientsApi } from "../contracting/ClientsApi.ts"
import { ContactsApi } from "../contracting/ContactsApi.ts"
import { ContractsApi } from "../contracting/ContractsApi.ts"
import { EmailsApi } from "../contracting/EmailsApi.ts"
import { ProjectsApi } from "../contracting/ProjectsApi.ts"
import { CreditNoteSeriesApi } from "../creditNotes/CreditNoteSeriesApi.ts"
import { CreditNotesApi } from "../creditNotes/CreditNotesApi.ts"
import { DeliveriesApi } from "../delivery/DeliveriesApi.ts"
import { EventsApi } from "../events/EventsApi.ts"
import { IntegrationsApi } from "../integrations/IntegrationsApi.ts"
import { BillablesApi } from "../invoicing/BillablesApi.ts"
import { InvoiceSeriesApi } from "../invoicing/InvoiceSeriesApi.ts"
import { InvoicesApi } from "../invoicing/InvoicesApi.ts"
import { PaymentsApi } from "../payments/PaymentsApi.ts"
import { ReportsApi } from "../reports/ReportsApi.ts"
import { TaxRatesApi } from "../taxes/TaxRatesApi.ts"
import { LimitsApi } from "../tenancy/LimitsApi.ts"
import { MembersApi } from "../tenancy/MembersApi.ts"
import { TenantsApi } from "../tenancy/TenantsApi.ts"
import { InboundApi } from "../trackers/InboundApi.ts"
import { IssuesApi } from "../trackers/IssuesApi.ts"
import { WebhooksApi } from "../trackers/WebhooksApi.ts"

const introduction = `Contracting and invoicing for many businesses: clients, contracts, projects and invoices, with an event for every change.

## First steps

1. Create a tenant. You are its OWNER. Send its \`id\` as the header \`tenant-id\` from then on.
2. Create a client, then an ACTIVE contract with the client.
3. Create an invoice under the contract, add billables, and finalize it. Download it as PDF.

## Conventions

- A success has its result in \`data\`. An error has \`error\` and \`message\`. A 400 lists every invalid field in \`details\`.
- Amounts are whole minor units of their currency: 8800 in EUR is 88.00 EUR. Times are ISO 8601 in UTC.
- Lists come in pages. Follow the URL in the header \`Link\` until there is none.
- With an \`Idempotency-Key\`, a POST that you repeat is done once.
- \`ETag\` is the version of a resource. Send it as \`If-Match\` to change only the version that you know.
- A 429 or 503 has \`Retry-After\`: repeat the request after that many seconds.
- Every write records an event. Read the event feed, or have events delivered to an integration.`

const base = HttpApi.make("contracting")
  .addError(ApiError)
  .annotate(HttpApi.AdditionalSchemas, eventSchemas)
  .annotate(OpenApi.Title, "Contracting service")
  .annotate(OpenApi.Version, "0.1.0")
  .annotate(OpenApi.Servers, [{ url: "/" }])
  .annotate(OpenApi.Description, introduction)

type ContractingApi<G extends HttpApiGroup.HttpApiGroup.Any> = HttpApi.HttpApi<"contracting", G, ApiError, never>

/** The API of these groups, under the version's prefix. */
export const makeApi = <G extends HttpApiGroup.HttpApiGroup.Any>(groups: ReadonlyArray<G>) => {
  // A loop cannot refine the type group by group, so the final type is cast at the start. It omits Effect's
  // HttpApiDecodeError, which the server never sends.
  let api = base as unknown as ContractingApi<G>
  for (const group of groups) api = api.add(group)
  return api.prefix("/api/v1")
}

/** Every resource of the API, in the order of the documentation. */
const groups = [
  TenantsApi,
  MembersApi,
  LimitsApi,
  ClientsApi,
  AddressesApi,
  ContactsApi,
  EmailsApi,
  ContractsApi,
  ProjectsApi,
  InvoicesApi,
  InvoiceLinksApi,
  BillablesApi,
  PaymentsApi,
  CreditNotesApi,
  ReportsApi,
  TaxRatesApi,
  InvoiceSeriesApi,
  CreditNoteSeriesApi,
  AssetsApi,
  IntegrationsApi,
  EventsApi,
  DeliveriesApi,
  IssuesApi,
  InboundApi,
  WebhooksApi
]

/** The API. Routes, documentation and clients derive from it. */
export const Api = makeApi(groups)
