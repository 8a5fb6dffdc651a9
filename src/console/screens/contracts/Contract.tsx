import { useRef, useState } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso/router"
import { api, type Loaded, load, messageOf, read, readAll, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { findClient } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { changedFields, updateVersion } from "../../api/update.ts"
import { editableAmount, formatStatus } from "../../ui/format.ts"
import { amountOf } from "../../ui/forms/Amount.tsx"
import { Choice, Field, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Page, Section } from "../../ui/Page.tsx"
import { Empty, Shown } from "../../ui/State.tsx"
import { notify } from "../../ui/Toasts.tsx"
import { Badge } from "../../ui/Value.tsx"
import { InvoiceLink } from "../invoices/InvoiceLink.tsx"
import { CapBar } from "./CapBar.tsx"
import { PickIssues } from "./PickIssues.tsx"

type ContractValue = Schemas["Contract"]

const readContract = (contractId: string) =>
  load(api.GET("/api/v1/contracts/{contractId}", { params: { path: { contractId } } }))

const readRelated = async (contractId: string) => {
  const [billing, projects, invoices] = await Promise.all([
    read(api.GET("/api/v1/contracts/{contractId}/billing", { params: { path: { contractId } } })),
    readAll((cursor) => api.GET("/api/v1/projects", { params: { query: { contractId, ...(cursor && { cursor }) } } })),
    read(api.GET("/api/v1/invoices", { params: { query: { contractId, limit: 20, sort: "-createdAt" } } }))
  ])
  return { billing, projects, invoices }
}

/** The statuses that a contract can change to, as the API documents them. */
const nextStatuses: Readonly<Record<ContractValue["status"], ReadonlyArray<ContractValue["status"]>>> = {
  DRAFT: ["DRAFT", "ACTIVE"],
  ACTIVE: ["ACTIVE", "ENDED"],
  ENDED: ["ENDED"]
}

const EditContract = ({
  loaded,
  onClose
}: {
  readonly loaded: Loaded<ContractValue>
  readonly onClose: () => void
}) => {
  const { capMinor, currencyCode, description, id, name, paymentTermDays, status } = loaded.value
  return (
    <FormDialog
      title="Edit contract"
      submitLabel="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        const cap = amountOf(values, "capMinor", currencyCode)
        const body = changedFields(loaded.value, {
          name: values["name"] ?? "",
          description: values["description"] ?? "",
          paymentTermDays: Number(values["paymentTermDays"]),
          status: nextStatuses[status].find((next) => next === values["status"]) ?? status,
          ...(cap === undefined ? {} : { capMinor: cap })
        })
        if (Object.keys(body).length === 0) return undefined
        const write = (headers: { "If-Match": string }) =>
          read(api.PATCH("/api/v1/contracts/{contractId}", { params: { path: { contractId: id } }, body, headers }))
        const saved = await updateVersion(loaded, body, write, () => readContract(id))
        return saved && `${saved.name} is saved`
      }}
    >
      <Field name="name" label="Name" value={name} isRequired />
      <Field name="description" label="Description" value={description} isLong />
      <div class="field-row">
        <Field
          name="capMinor"
          label={`Cap in ${currencyCode}`}
          value={capMinor === undefined ? "" : editableAmount(capMinor, currencyCode)}
        />
        <Field name="paymentTermDays" label="Payment term in days" type="number" value={paymentTermDays} />
      </div>
      <Choice
        name="status"
        label="Status"
        value={status}
        options={nextStatuses[status].map((next) => [next, formatStatus(next)])}
      />
    </FormDialog>
  )
}

const NewProject = ({ contractId, onClose }: { readonly contractId: string; readonly onClose: () => void }) => (
  <FormDialog
    title="New project"
    submitLabel="Create project"
    onClose={onClose}
    onSubmit={async (values) => {
      const { name = "", ...rest } = filled(values)
      await withKey(`project ${contractId}`, (headers) =>
        read(api.POST("/api/v1/projects", { body: { ...rest, contractId, name }, headers }))
      )
      return undefined
    }}
  >
    <Field name="name" label="Name" isRequired />
    <Field name="description" label="Description" isLong />
  </FormDialog>
)

const Invoices = ({ invoices }: { readonly invoices: ReadonlyArray<Schemas["Invoice"]> }) =>
  invoices.length === 0 ? (
    <Empty title="Nothing is billed yet" />
  ) : (
    <ul class="rows">
      {invoices.map((invoice) => (
        <li key={invoice.id}>
          <InvoiceLink invoice={invoice} />
        </li>
      ))}
    </ul>
  )

type Panel = "edit" | "project" | "issues" | undefined

/** What was agreed, what is billed of it, and the way to bill more. */
export const Contract = () => {
  const contractId = useRoute().params["id"] ?? ""
  const { route } = useLocation()
  const [panel, setPanel] = useState<Panel>(undefined)
  const query = useQuery(`contract ${contractId}`, () => readContract(contractId))
  const related = useQuery(`contract ${contractId} related`, () => readRelated(contractId))
  const canWrite = hasRole("MEMBER")
  const close = () => setPanel(undefined)
  // Stays true after a success: until the next screen is shown, this one can be clicked.
  const isCreating = useRef(false)
  const createDraft = async () => {
    if (isCreating.current) return
    isCreating.current = true
    try {
      const { id } = await withKey(`invoice ${contractId}`, (headers) =>
        read(api.POST("/api/v1/invoices", { body: { contractId }, headers }))
      )
      changes.value++
      route(inTenant(`/invoices/${id}`))
    } catch (cause) {
      isCreating.current = false
      notify(messageOf(cause), { isError: true })
    }
  }
  return (
    <Shown query={query}>
      {(loaded) => (
        <Page
          title={loaded.value.name}
          parent={[inTenant(`/clients/${loaded.value.client}`), findClient(loaded.value.client)?.name ?? "Client"]}
          actions={
            canWrite && (
              <>
                <button type="button" onClick={() => setPanel("edit")}>
                  Edit
                </button>
                {loaded.value.status !== "DRAFT" && (
                  <>
                    <button type="button" onClick={() => void createDraft()}>
                      Empty invoice
                    </button>
                    <button type="button" class="primary" onClick={() => setPanel("issues")}>
                      Bill issues
                    </button>
                  </>
                )}
              </>
            )
          }
        >
          <p class="lead">
            <Badge status={loaded.value.status} /> {loaded.value.description}
          </p>
          <Shown query={related}>
            {({ billing, invoices, projects }) => (
              <>
                <Section title="Billing">
                  <CapBar billing={billing} />
                </Section>
                <div class="columns">
                  <Section title="Invoices">
                    <Invoices invoices={invoices} />
                  </Section>
                  <Section
                    title="Projects"
                    action={
                      canWrite && (
                        <button type="button" onClick={() => setPanel("project")}>
                          Add
                        </button>
                      )
                    }
                  >
                    {projects.length === 0 && <p class="muted">No project yet.</p>}
                    <ul class="plain">
                      {projects.map(({ description, id, name }) => (
                        <li key={id}>
                          <strong>{name}</strong> <span class="muted">{description}</span>
                        </li>
                      ))}
                    </ul>
                  </Section>
                </div>
              </>
            )}
          </Shown>
          {panel === "edit" && <EditContract loaded={loaded} onClose={close} />}
          {panel === "project" && <NewProject contractId={contractId} onClose={close} />}
          {panel === "issues" && <PickIssues contract={loaded.value} onClose={close} />}
        </Page>
      )}
    </Shown>
  )
}
