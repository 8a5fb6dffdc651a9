import { useCallback, useRef, useState } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso/router"
import { api, done, type Loaded, load, read, readAll, type Schemas } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole, inTenant, tenant } from "../../api/session.ts"
import { Page } from "../../ui/Page.tsx"
import { PdfPreview } from "../../ui/PdfPreview.tsx"
import { Shown } from "../../ui/State.tsx"
import { notify } from "../../ui/Toasts.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { prepareLine } from "./draftLines.ts"
import { Editor } from "./Editor.tsx"
import { ExplainDialog } from "./ExplainDialog.tsx"
import { FinalizeDialog } from "./FinalizeDialog.tsx"
import { IssuedLines } from "./IssuedLines.tsx"
import { invoiceTitle } from "./invoiceTitle.ts"
import { Mails } from "./Mails.tsx"
import { finishPendingLines } from "./newLines.ts"
import { isOverdue } from "./overdue.ts"
import { CreditNoteDialog, PaymentDialog, SendDialog, VoidDialog } from "./SettleDialogs.tsx"

type Panel = "finalize" | "send" | "payment" | "credit" | "void" | "explain" | undefined

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
  // Lines whose creation was cut off are created before they are read. If that fails too, they are still kept.
  const resumed = await finishPendingLines(invoiceId).catch(() => [])
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

const Facts = ({ contract, loaded: { value } }: Pick<ShownInvoice, "contract" | "loaded">) => {
  const { balanceMinor, currencyCode, dueAt, issuedAt, paidAt, status } = value
  return (
    <dl class="facts">
      <div>
        <dt>Client</dt>
        <dd>
          <a href={inTenant(`/clients/${contract.client}`)}>{findClient(contract.client)?.name ?? "…"}</a>
        </dd>
      </div>
      <div>
        <dt>Contract</dt>
        <dd>
          <a href={inTenant(`/contracts/${contract.id}`)}>{contract.name}</a>
        </dd>
      </div>
      {issuedAt !== undefined && (
        <div>
          <dt>Issued</dt>
          <dd>
            <Day at={issuedAt} />
          </dd>
        </div>
      )}
      {dueAt !== undefined && (
        <div>
          <dt>Due</dt>
          <dd>
            <Day at={dueAt} />
          </dd>
        </div>
      )}
      {paidAt !== undefined && (
        <div>
          <dt>Paid</dt>
          <dd>
            <Day at={paidAt} />
          </dd>
        </div>
      )}
      {status === "FINALIZED" && (
        <div>
          <dt>Balance</dt>
          <dd>
            <Money amountMinor={balanceMinor} currencyCode={currencyCode} />
          </dd>
        </div>
      )}
    </dl>
  )
}

interface ActionsProps {
  readonly invoice: Schemas["Invoice"]
  readonly open: (panel: Panel) => void
  readonly save: () => Promise<boolean>
  readonly isDirty: boolean
  readonly onDelete: () => void
}

/** What the status and the role allow, the next step last and in colour. */
const Actions = ({ invoice: { status }, isDirty, onDelete, open, save }: ActionsProps) => {
  const isAdmin = hasRole("ADMIN")
  if (status === "DRAFT")
    return (
      <>
        {hasRole("MEMBER") && (
          <>
            <button type="button" class="quiet danger" onClick={onDelete}>
              Delete
            </button>
            <button
              type="button"
              class={isDirty ? "primary" : ""}
              aria-disabled={!isDirty}
              onClick={() => isDirty && void save()}
            >
              Save
            </button>
          </>
        )}
        {isAdmin && (
          <button
            type="button"
            class={isDirty ? "" : "primary"}
            onClick={async () => (!isDirty || (await save())) && open("finalize")}
          >
            Finalize…
          </button>
        )}
      </>
    )
  if (status === "VOID" || !isAdmin) return null
  return (
    <>
      {status === "FINALIZED" && (
        <button type="button" class="quiet danger" onClick={() => open("void")}>
          Void
        </button>
      )}
      <button type="button" onClick={() => open("credit")}>
        Credit note
      </button>
      {status === "FINALIZED" && (
        <button type="button" onClick={() => open("payment")}>
          Record payment
        </button>
      )}
      <button type="button" class="primary" onClick={() => open("send")}>
        Send
      </button>
    </>
  )
}

const Panels = ({
  loaded,
  onClose,
  panel
}: {
  readonly panel: Panel
  readonly loaded: Loaded<Schemas["Invoice"]>
  readonly onClose: () => void
}) => {
  switch (panel) {
    case "finalize":
      // The answer may be lost, or another person faster.
      return loaded.value.status === "DRAFT" ? <FinalizeDialog loaded={loaded} onClose={onClose} /> : null
    case "send":
      return <SendDialog loaded={loaded} onClose={onClose} />
    case "payment":
      return <PaymentDialog loaded={loaded} onClose={onClose} />
    case "credit":
      return <CreditNoteDialog loaded={loaded} onClose={onClose} />
    case "void":
      return <VoidDialog loaded={loaded} onClose={onClose} />
    case "explain":
      return <ExplainDialog invoiceId={loaded.value.id} onClose={onClose} />
    default:
      return null
  }
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
  const remove = async ({ etag, value }: Loaded<Schemas["Invoice"]>) => {
    const headers = etag === undefined ? {} : { "If-Match": etag }
    await done(api.DELETE("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId } }, headers }))
    changes.value++
    route(inTenant(`/contracts/${value.contract}`))
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
            <Actions
              invoice={loaded.value}
              isDirty={isDirty}
              open={setPanel}
              save={() => saving.current()}
              onDelete={() => void remove(loaded).catch((cause: unknown) => notify(String(cause), { isError: true }))}
            />
          }
        >
          <Facts contract={contract} loaded={loaded} />
          <div class="toolbar">
            <button
              type="button"
              class="quiet"
              aria-pressed={isPreviewed}
              onClick={() => route(inTenant(`/invoices/${invoiceId}${isPreviewed ? "" : "?preview=pdf"}`))}
            >
              {isPreviewed ? "Hide PDF" : "Show PDF"}
            </button>
            <button type="button" class="quiet" onClick={() => setPanel("explain")}>
              Explain
            </button>
          </div>
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
              {loaded.value.issuedAt !== undefined && <Mails invoiceId={invoiceId} />}
            </div>
            {isPreviewed && (
              <PdfPreview
                path={`/api/v1/invoices/${invoiceId}/pdf`}
                name={invoiceTitle(loaded.value)}
                version={loaded.value.updatedAt}
              />
            )}
          </div>
          <Panels panel={panel} loaded={loaded} onClose={() => setPanel(undefined)} />
        </Page>
      )}
    </Shown>
  )
}
