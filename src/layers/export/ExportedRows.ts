import { Effect, Option, Record as Records, Stream } from "effect"
import type { Asset } from "../../domain/branding/Asset.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Assets } from "../branding/Assets.ts"
import { InvoiceLinks } from "../clientPage/InvoiceLinks.ts"
import { Addresses } from "../contracting/Addresses.ts"
import { Clients } from "../contracting/Clients.ts"
import { Contacts } from "../contracting/Contacts.ts"
import { Contracts } from "../contracting/Contracts.ts"
import { Emails } from "../contracting/Emails.ts"
import { Projects } from "../contracting/Projects.ts"
import { CreditNoteLines } from "../creditNotes/CreditNoteLines.ts"
import { CreditNotes } from "../creditNotes/CreditNotes.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import { MailProofs } from "../delivery/MailProofs.ts"
import { UploadProofs } from "../delivery/UploadProofs.ts"
import { Events } from "../events/Events.ts"
import { omitNulls } from "../infra/postgres/repository/Columns.ts"
import { Integrations } from "../integrations/Integrations.ts"
import { Billables } from "../invoicing/Billables.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import { CreditNoteNumbers, InvoiceNumbers } from "../invoicing/NumberSeries.ts"
import { Journal } from "../journal/Journal.ts"
import { Payments } from "../payments/Payments.ts"
import { TaxRates } from "../taxes/TaxRates.ts"
import { Members } from "../tenancy/Members.ts"
import { Tenants } from "../tenancy/Tenants.ts"
import { InboundWebhooks } from "../trackers/InboundWebhooks.ts"
import { TrackedIssues } from "../trackers/TrackedIssues.ts"
import type { ExportedKind } from "./ExportedTables.ts"

/** The rows of a page: what the archive keeps in memory of a table. */
const maxPageRows = 200
/** The body of an inbound webhook has up to 1 MiB. */
const maxPageBodies = 4

type Pages<A> = Stream.Stream<ReadonlyArray<A>, never, CurrentTenant>

/** All pages of a table. A page is one statement, which runs when the page before is written. */
const walkPages = <A>(
  limit: number,
  readAfter: (last: A | undefined) => Effect.Effect<ReadonlyArray<A>, never, CurrentTenant>
): Pages<A> =>
  Stream.paginateEffect(Option.none<A>(), (last) =>
    Effect.map(readAfter(Option.getOrUndefined(last)), (rows) => {
      const next = Option.filter(Option.fromNullable(rows.at(-1)), () => rows.length === limit)
      return [rows, Option.map(next, Option.some)]
    })
  )

type PageByAge<A> = (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<A>, never, CurrentTenant>

const walkById = <A extends { readonly id: string | number }>(pageByAge: PageByAge<A>, limit = maxPageRows) =>
  walkPages<A>(limit, (last) => pageByAge(last === undefined ? undefined : String(last.id), limit))

/** A file with a single row. */
const single = <A>(row: Effect.Effect<A, unknown, CurrentTenant>) =>
  Stream.fromEffect(Effect.map(Effect.orDie(row), (value) => [value]))

/** Reads the rows of a tenant: as the API returns them, and as the lines of the archive's files. */
export class ExportedRows extends Effect.Service<ExportedRows>()("layers/ExportedRows", {
  dependencies: [
    Addresses.Default,
    Assets.Default,
    Billables.Default,
    Clients.Default,
    Contacts.Default,
    Contracts.Default,
    CreditNoteLines.Default,
    CreditNoteNumbers.Default,
    CreditNotes.Default,
    Deliveries.Default,
    Emails.Default,
    Events.Default,
    InboundWebhooks.Default,
    Integrations.Default,
    InvoiceLinks.Default,
    InvoiceNumbers.Default,
    Invoices.Default,
    Journal.Default,
    MailProofs.Default,
    Members.Default,
    Payments.Default,
    Projects.Default,
    TaxRates.Default,
    Tenants.Default,
    TrackedIssues.Default,
    UploadProofs.Default
  ],
  effect: Effect.gen(function* () {
    const tenants = yield* Tenants
    const lines = yield* CreditNoteLines
    const mails = yield* MailProofs
    const links = yield* InvoiceLinks
    const uploads = yield* UploadProofs
    const assets = yield* Assets
    const events = yield* Events
    const tenant = Effect.flatMap(CurrentTenant, tenants.get)

    const rows = {
      tenant: single(tenant),
      members: walkById((yield* Members).pageByAge),
      "tax-rates": walkById((yield* TaxRates).pageByAge),
      "invoice-series": single((yield* InvoiceNumbers).getSeries),
      "credit-note-series": single((yield* CreditNoteNumbers).getSeries),
      clients: walkById((yield* Clients).pageByAge),
      addresses: walkById((yield* Addresses).pageByAge),
      contacts: walkById((yield* Contacts).pageByAge),
      emails: walkById((yield* Emails).pageByAge),
      contracts: walkById((yield* Contracts).pageByAge),
      projects: walkById((yield* Projects).pageByAge),
      invoices: walkById((yield* Invoices).pageByAge),
      "invoice-mails": Stream.map(
        walkPages<Effect.Effect.Success<ReturnType<typeof mails.page>>[number]>(maxPageRows, (last) =>
          mails.page(last, maxPageRows)
        ),
        (page) => page.map(omitNulls)
      ),
      "invoice-links": Stream.map(
        walkPages<Effect.Effect.Success<ReturnType<typeof links.page>>[number]>(maxPageRows, (last) =>
          links.page(last, maxPageRows)
        ),
        (page) => page.map(omitNulls)
      ),
      "invoice-uploads": Stream.map(
        walkPages<Effect.Effect.Success<ReturnType<typeof uploads.page>>[number]>(maxPageRows, (last) =>
          uploads.page(last, maxPageRows)
        ),
        (page) => page.map(omitNulls)
      ),
      billables: walkById((yield* Billables).pageByAge),
      "credit-notes": walkById((yield* CreditNotes).pageByAge),
      "credit-note-lines": Stream.map(
        walkPages<Effect.Effect.Success<ReturnType<typeof lines.page>>[number]>(maxPageRows, (last) =>
          lines.page(last, maxPageRows)
        ),
        (page) => page.map(omitNulls)
      ),
      payments: walkById((yield* Payments).pageByAge),
      "journal-entries": walkById((yield* Journal).pageByAge),
      assets: walkPages<Asset>(maxPageRows, (last) => assets.pageByAge(last?.assetId, maxPageRows)),
      integrations: walkById((yield* Integrations).pageByAge),
      issues: walkById((yield* TrackedIssues).pageByAge),
      "inbound-webhooks": walkById((yield* InboundWebhooks).pageByAge, maxPageBodies),
      deliveries: walkById((yield* Deliveries).pageByAge),
      // Encoded by PostgreSQL, because `data` keeps its stored text.
      events: walkById(events.pageByAge)
    } satisfies Record<ExportedKind, Pages<object>>

    const { events: encodedEvents, ...others } = rows
    const linesOf = (pages: Pages<object>): Pages<string> =>
      Stream.map(pages, (page) => page.map((row) => JSON.stringify(row)))

    return {
      tenant: Effect.orDie(tenant),
      rows,
      /** The rows as JSON, by file, in the order of the archive. */
      lines: {
        ...Records.map(others, linesOf),
        events: Stream.map(encodedEvents, (page) => page.map(({ text }) => text))
      } satisfies Record<ExportedKind, Pages<string>>
    }
  })
}) {}
