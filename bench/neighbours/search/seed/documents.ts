import type pg from "pg"
import sharp from "sharp"
import { insertCreditNotes } from "../../../creditNoteSeed.ts"
import { type Attacker, repeat } from "../../attacker.ts"
import { issuedInvoices, listIds, makeSlot, numberLength, type Pools, slotCount } from "../pools.ts"

/** An image with as many pixels as the service decodes, and few bytes. */
export const makeUpload = () =>
  sharp({ create: { width: 8000, height: 5000, channels: 3, background: "white" } })
    .png()
    .toBuffer()

/** Uploads and verifies an image. Returns its asset. */
export const createReadyAsset = async (attacker: Attacker, tenant: string, upload: Buffer) => {
  const body = { kind: "BRANDING_LOGO", contentType: "image/png" }
  const { text } = await attacker.callUntilAccepted("POST", "/assets", { tenant, body })
  const { data } = JSON.parse(text) as { readonly data: { readonly assetId: string } } // the body of the 201
  await attacker.callUntilAccepted("PUT", `/assets/${data.assetId}/content`, { tenant, body: upload })
  await attacker.callUntilAccepted("POST", `/assets/${data.assetId}/complete`, { tenant })
  return data.assetId
}

/** Assets with the bytes of another one, which are not verified yet. */
export const insertUploadedAssets = (client: pg.Client, pools: Pools) =>
  client.query(
    `insert into assets (tenant_id, id, kind, access, source, status, content_type, digest, created_at, updated_at, sequence)
     select tenant_id, uploaded, kind, access, source, 'PENDING', content_type, digest, now(), now(), 1
     from assets, unnest($1::text[]) uploaded where id = $2`,
    [listIds(pools, "uploadedAsset"), pools["asset"]?.getId(0)]
  )

export const attachImages = async (attacker: Attacker, tenant: string, pools: Pools) => {
  const body = { assetId: pools["asset"]?.getId(0) }
  for (const owner of [`/tenants/${tenant}`, `/clients/${pools["largeClient"]?.getId(0)}`]) {
    await repeat({ concurrency: 8, total: slotCount }, (n) =>
      attacker.callUntilAccepted("PUT", `${owner}/media/${makeSlot(n)}`, { tenant, body })
    )
  }
}

const nameInvoice = (_: unknown, n: number) =>
  `inv_issued${String(issuedInvoices.credited.from + n).padStart(numberLength, "0")}`

/** A draft for each of the credited invoices. */
export const insertDraftCreditNotes = (client: pg.Client, tenant: string, pools: Pools) => {
  const creditNotes = [...listIds(pools, "issuedCreditNote"), ...listIds(pools, "creditNote")]
  return insertCreditNotes(client, { id: tenant, creditNotes, invoices: creditNotes.map(nameInvoice) })
}

/** Finalizes invoices and credit notes, the last one of a large invoice. Returns it. */
export const finalizeDocuments = async (attacker: Attacker, tenant: string, pools: Pools) => {
  const finalize = (path: string) => attacker.create(`${path}/finalize`, { tenant })
  for (const invoice of listIds(pools, "largeIssued")) await finalize(`/invoices/${invoice}`)
  const notes = listIds(pools, "issuedCreditNote")
  await repeat({ concurrency: 8, total: notes.length }, (n) => finalize(`/credit-notes/${notes[n]}`))
  const body = { invoiceId: pools["largeIssued"]?.getId(0), reason: "Not delivered", full: true }
  return finalize(`/credit-notes/${await attacker.create("/credit-notes", { tenant, body })}`)
}
