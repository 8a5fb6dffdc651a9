import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect, Stream } from "effect"
import type { ImageRole, InvoiceImages as Images } from "../../domain/invoicing/InvoiceDocument.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { Blobs } from "../branding/Blobs.ts"

interface Image {
  readonly role: ImageRole
  readonly digest: string
}

/** The images on invoices: those that hang on either side, and once issued those that did at that moment. */
export class InvoiceImages extends Effect.Service<InvoiceImages>()("layers/InvoiceImages", {
  dependencies: [Blobs.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const blobs = yield* Blobs

    /** Of each kind the first in the order of its owner. */
    const hanging = (tenant: string, contract: string): Fragment => sql`
      select distinct on (role) role, digest, content_type from (
        select side || case kind when 'BRANDING_LOGO' then '-logo' else '-background' end as role, digest,
          content_type, place
        from (
          select 'tenant' as side, item, place from tenants, json_array_elements(media) with ordinality e (item, place)
          where id = ${tenant}
          union all
          select 'client', item, place from contracts
          join clients on clients.tenant_id = contracts.tenant_id and clients.id = client_id,
            json_array_elements(media) with ordinality e (item, place)
          where contracts.tenant_id = ${tenant} and contracts.id = ${contract}
        ) hung
        join assets on assets.tenant_id = ${tenant} and assets.id = item ->> 'assetId'
      ) images order by role, place`

    const files = (tenant: string, images: ReadonlyArray<Image>) =>
      Effect.reduce(images, {} as Images, (found, { digest, role }) =>
        Effect.map(Stream.runCollect(blobs.read(tenant, digest)), (pieces) => ({
          ...found,
          [role]: new Uint8Array(Buffer.concat([...pieces]))
        }))
      )

    return {
      /** Keeps the images of an invoice that is being issued, whatever becomes of their assets: those still there. */
      freeze: (invoice: string, contract: string) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql`
            insert into invoice_images (tenant_id, invoice_id, role, digest, content_type)
            select ${tenant}, ${invoice}, role, digest, content_type from (${hanging(tenant, contract)}) hanging,
              lateral (select from blobs where tenant_id = ${tenant} and digest = hanging.digest for key share) kept`)
        ),

      /** The files of an invoice's images, kept ones if it was issued. */
      of: (invoice: string, contract: string, isIssued: boolean) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const images = yield* isIssued
            ? sql<Image>`
                select role, digest from invoice_images where tenant_id = ${tenant} and invoice_id = ${invoice}`
            : sql<Image>`select role, digest from (${hanging(tenant, contract)}) hanging`
          return yield* files(tenant, images)
        }).pipe(Effect.orDie)
    }
  })
}) {}
