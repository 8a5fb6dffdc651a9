import { useCallback, useRef, useState } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso/router"
import { api, done, isRejection, type Loaded, load, read, readAll, type Schemas } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole, inTenant, tenant } from "../../api/session.ts"
import { ifMatch } from "../../api/update.ts"
import { Facts } from "../../ui/Facts.tsx"
import { Page } from "../../ui/Page.tsx"
import { PdfPreview } from "../../ui/PdfPreview.tsx"
import { Shown } from "../../ui/State.tsx"
import { attempt, notify } from "../../ui/Toasts.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { prepareLine } from "./editor/draftLines.ts"
import { Editor } from "./editor/Editor.tsx"
import { finishPendingLines } from "./editor/newLines.ts"
import { InvoiceActions, InvoiceToolbar } from "./InvoiceActions.tsx"
import { InvoicePanels, type Panel } from "./InvoicePanels.tsx"
import { IssuedLines } from "./IssuedLines.tsx"
import { invoiceTitle } from "./invoiceTitle.ts"
import { Mails } from "./Mails.tsx"
import { isOverdue } from "./overdue.ts"
import { Settlements } from "./Settlements.tsx"

/** The largest page of the API: an invoice can have ten thousand lines. */
const linesPerPage = 200

const readLines = (invoiceId: string) =>
  readAll(async (cursor) => {
    const query = { invoiceId, limit: linesPerPage, ...(cursor && { cursor }) }
    const page = await api.GET("/api/v1/billables", { params: { query } })
    page.data?.data.forEach(prepareLine)
    return page
  })

const readInvoice = async (invoiceId: string) => {
  // Lines whose creation was cut off are created before they are read. A rejection means that they do not exist.
  const resumed = await finishPendingLines(invoiceId).catch((cause) => (isRejection(cause) ? [] : undefined))
  const [loaded, lines, rates] = await Promise.all([
    load(api.GET("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId } } })),
    readLines(invoiceId),
    readAll((cursor) => api.GET("/api/v1/tax-rates", { params: { query: { ...(cursor && { cursor }) } } }))
  ])
  const contractId = loaded.value.contract
  const contract = await read(api.GET("/api/v1/contracts/{contractId}", { params: { path: { contractId } } }))
  return {
    loaded,
    lines,
    resumed,
    rates,
    contract,
    defaultTaxRates: contract.defaultTaxRates ?? tenant.value?.defaultTaxRates ?? []
  }
}

type ShownInvoice = Awaited<ReturnType<typeof readInvoice>>

const factsOf = ({ contract, loaded: { value } }: Pick<ShownInvoice, "contract" | "loaded">) => {
  const { balanceMinor, currencyCode, dueAt, issuedAt, paidAt, status } = value
  return [
    [
      "Client",
      <a key="client" href={inTenant(`/clients/${contract.client}`)}>
        {findClient(contract.client)?.name ?? "…"}
      </a>
    ],
    [
      "Contract",
      <a key="contract" href={inTenant(`/contracts/${contract.id}`)}>
        {contract.name}
      </a>
    ],
    ["Issued", issuedAt && <Day at={issuedAt} />],
    ["Due", dueAt && <Day at={dueAt} />],
    ["Paid", paidAt && <Day at={paidAt} />],
    ["Balance", status === "FINALIZED" && <Money amountMinor={balanceMinor} currencyCode={currencyCode} />]
  ] as const
}

/** One invoice: a draft to edit, or a document with what can be done with it. */
export const Invoice = () => {
  const invoiceId = useRoute().params["id"] ?? ""
  const { query: address, route } = useLocation()
  const [panel, setPanel] = useState<Panel>(undefined)
  const [isDirty, setDirty] = useState(false)
  const saving = useRef<() => Promise<boolean>>(async () => true)
  const onState = useCallback((state: { readonly isDirty: boolean; readonly save: () => Promise<boolean> }) => {
    saving.current = state.save
    setDirty(state.isDirty)
  }, [])
  const query = useQuery(`invoice ${invoiceId}`, () => readInvoice(invoiceId))
  const isPreviewed = address["preview"] === "pdf"
  const remove = async (loaded: Loaded<Schemas["Invoice"]>) => {
    await done(
      api.DELETE("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId } }, headers: ifMatch(loaded) })
    )
    changes.value++
    route(inTenant(`/contracts/${loaded.value.contract}`))
    notify("The draft is deleted")
  }
  return (
    <Shown query={query}>
      {({ contract, defaultTaxRates, lines, loaded, rates, resumed }) => (
        <Page
          title={
            <>
              {loaded.value.status === "DRAFT" ? "Draft invoice" : invoiceTitle(loaded.value)}{" "}
              {loaded.value.status !== "DRAFT" && (
                <Badge status={isOverdue(loaded.value) ? "OVERDUE" : loaded.value.status} />
              )}
            </>
          }
          parent={[inTenant("/invoices"), "Invoices"]}
          actions={
            <InvoiceActions
              invoice={loaded.value}
              isDirty={isDirty}
              open={setPanel}
              save={() => saving.current()}
              onDelete={() => attempt(remove(loaded))}
            />
          }
        >
          <Facts facts={factsOf({ contract, loaded })} />
          <InvoiceToolbar invoice={loaded.value} isPreviewed={isPreviewed} open={setPanel} />
          <div class={isPreviewed ? "columns even" : ""} data-invoice={loaded.value.id}>
            <div>
              {loaded.value.status === "DRAFT" && hasRole("MEMBER") ? (
                <Editor
                  key={loaded.value.id}
                  invoice={loaded.value}
                  lines={lines}
                  resumed={resumed}
                  rates={rates}
                  defaultTaxRates={defaultTaxRates}
                  onState={onState}
                />
              ) : (
                <IssuedLines invoice={loaded.value} lines={lines} />
              )}
              {loaded.value.issuedAt !== undefined && (
                <>
                  <Settlements invoiceId={invoiceId} />
                  <Mails invoiceId={invoiceId} />
                </>
              )}
            </div>
            {isPreviewed && (
              <PdfPreview
                path={`/api/v1/invoices/${invoiceId}/pdf`}
                name={invoiceTitle(loaded.value)}
                version={loaded.value.updatedAt}
              />
            )}
          </div>
          <InvoicePanels panel={panel} loaded={loaded} lines={lines} onClose={() => setPanel(undefined)} />
        </Page>
      )}
    </Shown>
  )
}
