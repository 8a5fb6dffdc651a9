import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect, Stream } from "effect"
import type { ImageRole, InvoiceImages as ImagesByRole } from "../../../domain/invoicing/document/InvoiceDocument.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { Blobs } from "../../branding/Blobs.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"

interface ImageRow {
  readonly role: ImageRole
  readonly digest: string
}

/** An image file that an issued invoice keeps. */
export interface IssuedImage {
  readonly digest: string
  readonly contentType: string
  readonly sizeBytes: number
}

/**
 * Images on invoices. A draft shows the images that are attached to its tenant and client now. An issued invoice keeps
 * the images of the moment of issue.
 */
export class InvoiceImageStore extends Effect.Service<InvoiceImageStore>()("layers/InvoiceImageStore", {
  dependencies: [Blobs.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const blobs = yield* Blobs

    /** Selects the first image of each role, in the owner's order. */
    const selectAttached = (tenant: string, contract: string): Fragment => sql`
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
        ) attached
        join assets on assets.tenant_id = ${tenant} and assets.id = item ->> 'assetId'
      ) images order by role, place`

    const readImages = (tenant: string, images: ReadonlyArray<ImageRow>) =>
      Effect.reduce(images, {} as ImagesByRole, (read, { digest, role }) =>
        Effect.map(Stream.runCollect(blobs.read(tenant, digest)), (chunks) => ({
          ...read,
          [role]: new Uint8Array(Buffer.concat([...chunks]))
        }))
      )

    return {
      /**
       * Copies the attached images to an invoice at issue. The lock on each blob keeps a concurrent `release` from
       * deleting it.
       */
      freeze: (invoice: string, contract: string) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql`
            insert into invoice_images (tenant_id, invoice_id, role, digest, content_type)
            select ${tenant}, ${invoice}, role, digest, content_type from (${selectAttached(tenant, contract)}) hanging,
              lateral (select from blobs where tenant_id = ${tenant} and digest = hanging.digest for key share) kept`)
        ),

      /** The image of an issued invoice in a role, or undefined if it has none. */
      findIssued: (invoice: string, role: ImageRole) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<IssuedImage>`
            select digest, content_type as "contentType", size_bytes as "sizeBytes"
            from invoice_images join blobs using (tenant_id, digest)
            where tenant_id = ${tenant} and invoice_id = ${invoice} and role = ${role}`)
        ).pipe(Effect.map(([image]) => image)),

      readIssued: ({ digest }: IssuedImage) =>
        Stream.unwrap(Effect.map(CurrentTenant, (tenant) => blobs.read(tenant, digest))),

      /** Reads the image files: the copied ones of an issued invoice, the attached ones of a draft. */
      load: (invoice: string, contract: string, isIssued: boolean) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const images = yield* isIssued
            ? sql<ImageRow>`
                select role, digest from invoice_images where tenant_id = ${tenant} and invoice_id = ${invoice}`
            : sql<ImageRow>`select role, digest from (${selectAttached(tenant, contract)}) hanging`
          return yield* readImages(tenant, images)
        }).pipe(Effect.orDie)
    }
  }).pipe(withSpans("InvoiceImageStore"))
}) {}
