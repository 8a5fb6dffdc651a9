import { useState } from "preact/hooks"
import { useRoute } from "preact-iso/router"
import { api, type Loaded, load, read, readAll, readFile, type Schemas } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { changedFields, updateVersion } from "../../api/update.ts"
import { saveFile } from "../../ui/download.ts"
import { Choice, Field } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Page, Section } from "../../ui/Page.tsx"
import { Empty, Shown } from "../../ui/State.tsx"
import { attempt } from "../../ui/Toasts.tsx"
import { Badge, Money } from "../../ui/Value.tsx"
import { NewContract } from "../contracts/NewContract.tsx"
import { InvoiceLink } from "../invoices/InvoiceLink.tsx"
import { Addresses } from "./Addresses.tsx"
import { Contacts } from "./Contacts.tsx"
import { isLanguage, languages } from "./languages.ts"

const shownDocuments = 10

const readClient = (clientId: string) => load(api.GET("/api/v1/clients/{clientId}", { params: { path: { clientId } } }))

const readRelated = async (clientId: string) => {
  const [{ balances }, contracts, invoices, creditNotes] = await Promise.all([
    read(api.GET("/api/v1/clients/{clientId}/balance", { params: { path: { clientId } } })),
    readAll((cursor) => api.GET("/api/v1/contracts", { params: { query: { clientId, ...(cursor && { cursor }) } } })),
    load(api.GET("/api/v1/invoices", { params: { query: { clientId, limit: shownDocuments, sort: "-createdAt" } } })),
    load(api.GET("/api/v1/credit-notes", { params: { query: { clientId, limit: shownDocuments } } }))
  ])
  return { balances, contracts, invoices, creditNotes: creditNotes.value }
}

type Related = Awaited<ReturnType<typeof readRelated>>

const EditClient = ({
  loaded,
  onClose
}: {
  readonly loaded: Loaded<Schemas["Client"]>
  readonly onClose: () => void
}) => {
  const { description, id, language, name } = loaded.value
  return (
    <FormDialog
      title="Edit client"
      submitLabel="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        const { language: chosen, ...texts } = values
        const body = changedFields(loaded.value, { ...texts, ...(isLanguage(chosen) ? { language: chosen } : {}) })
        if (Object.keys(body).length === 0) return undefined
        const write = (headers: { "If-Match": string }) =>
          read(api.PATCH("/api/v1/clients/{clientId}", { params: { path: { clientId: id } }, body, headers }))
        const saved = await updateVersion(loaded, body, write, () => readClient(id))
        return saved && `${saved.name} is saved`
      }}
    >
      <Field name="name" label="Name" value={name} isRequired />
      <Field name="description" label="Description" value={description} isLong />
      <Choice name="language" label="Language" options={languages} value={language} />
    </FormDialog>
  )
}

const Balance = ({ balances }: Pick<Related, "balances">) =>
  balances.length === 0 ? (
    <p class="muted">Nothing is open.</p>
  ) : (
    <dl class="figures">
      {balances.map(({ currencyCode, openMinor, overdueMinor, unusedMinor }) => (
        <div key={currencyCode}>
          <dt>Open</dt>
          <dd>
            <Money amountMinor={openMinor} currencyCode={currencyCode} />
          </dd>
          {overdueMinor > 0 && (
            <>
              <dt>Overdue</dt>
              <dd class="bad">
                <Money amountMinor={overdueMinor} currencyCode={currencyCode} />
              </dd>
            </>
          )}
          {unusedMinor > 0 && (
            <>
              <dt>Paid in advance</dt>
              <dd>
                <Money amountMinor={unusedMinor} currencyCode={currencyCode} />
              </dd>
            </>
          )}
        </div>
      ))}
    </dl>
  )

const ContractRows = ({ contracts }: Pick<Related, "contracts">) =>
  contracts.length === 0 ? (
    <Empty title="No contract yet" />
  ) : (
    <ul class="rows">
      {contracts.map(({ currencyCode, id, name, status }) => (
        <li key={id}>
          <RowLink
            href={inTenant(`/contracts/${id}`)}
            title={name}
            about={currencyCode}
            side={<Badge status={status} />}
          />
        </li>
      ))}
    </ul>
  )

const Documents = ({ clientId, related }: { readonly clientId: string; readonly related: Related }) => (
  <>
    {related.invoices.value.length + related.creditNotes.length === 0 && <Empty title="No document yet" />}
    <ul class="rows">
      {related.invoices.value.map((invoice) => (
        <li key={invoice.id}>
          <InvoiceLink invoice={invoice} />
        </li>
      ))}
      {related.creditNotes.map(({ creditNoteNumber, currencyCode, id, status, totalMinor }) => (
        <li key={id}>
          <RowLink
            href={inTenant(`/credit-notes/${id}`)}
            title={creditNoteNumber ?? "Draft"}
            about="Credit note"
            side={
              <>
                <Money amountMinor={-totalMinor} currencyCode={currencyCode} />
                <Badge status={status} />
              </>
            }
          />
        </li>
      ))}
    </ul>
    {related.invoices.cursor !== undefined && (
      <p>
        <a href={inTenant(`/invoices?clientId=${clientId}`)}>All invoices of this client</a>
      </p>
    )}
  </>
)

const downloadStatement = async ({ id, name }: Schemas["Client"]) => {
  const [from, to] = [`${new Date().getFullYear()}-01-01`, new Date().toISOString().slice(0, 10)]
  const file = await readFile(`/api/v1/clients/${id}/statement/pdf?from=${from}&to=${to}`)
  saveFile(file, `Statement ${name}.pdf`)
}

type Panel = "client" | "contract" | undefined

/** Everything about a client. */
export const Client = () => {
  const clientId = useRoute().params["id"] ?? ""
  const [panel, setPanel] = useState<Panel>(undefined)
  const query = useQuery(`client ${clientId}`, () => readClient(clientId))
  const related = useQuery(`client ${clientId} related`, () => readRelated(clientId))
  const canWrite = hasRole("MEMBER")
  return (
    <Shown query={query}>
      {(loaded) => (
        <Page
          title={loaded.value.name}
          parent={[inTenant("/clients"), "Clients"]}
          actions={
            <>
              <button type="button" onClick={() => attempt(downloadStatement(loaded.value))}>
                Statement
              </button>
              {canWrite && (
                <button type="button" onClick={() => setPanel("client")}>
                  Edit
                </button>
              )}
            </>
          }
        >
          {loaded.value.description !== undefined && <p class="lead">{loaded.value.description}</p>}
          <Shown query={related}>
            {(found) => (
              <div class="columns">
                <div>
                  <Section title="Balance">
                    <Balance balances={found.balances} />
                  </Section>
                  <Section
                    title="Contracts"
                    action={
                      canWrite && (
                        <button type="button" onClick={() => setPanel("contract")}>
                          New contract
                        </button>
                      )
                    }
                  >
                    <ContractRows contracts={found.contracts} />
                  </Section>
                  <Section title="Documents">
                    <Documents clientId={clientId} related={found} />
                  </Section>
                </div>
                <div>
                  <Addresses clientId={clientId} canWrite={canWrite} />
                  <Contacts clientId={clientId} canWrite={canWrite} />
                </div>
              </div>
            )}
          </Shown>
          {panel === "client" && <EditClient loaded={loaded} onClose={() => setPanel(undefined)} />}
          {panel === "contract" && <NewContract clientId={clientId} onClose={() => setPanel(undefined)} />}
        </Page>
      )}
    </Shown>
  )
}
