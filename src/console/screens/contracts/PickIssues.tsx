import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { ApiFailure, api, done, load, read, readAll, type Schemas } from "../../api/client.ts"
import { orUndo, withKey } from "../../api/idempotency.ts"
import { changes, useQuery } from "../../api/query.ts"
import { inTenant } from "../../api/session.ts"
import { editableAmount } from "../../ui/format.ts"
import { amountOf } from "../../ui/forms/Amount.tsx"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Field, Form, type FormValues } from "../../ui/forms/Form.tsx"
import { Empty, Shown } from "../../ui/State.tsx"

type Issue = Schemas["TrackedIssue"]

/** The invoice that bills an issue. */
interface Billed {
  readonly id: string
  readonly number: string
}

interface IssueChoice {
  readonly issue: Issue
  readonly billedBy: Billed | undefined
}

const maxShown = 200

const findBilled = async ({ issueKey }: Issue): Promise<Billed | undefined> => {
  const [line] = await read(
    api.GET("/api/v1/billables", { params: { query: { referenceType: "jira", referenceId: issueKey, limit: 1 } } })
  )
  if (line === undefined) return undefined
  const invoice = await read(api.GET("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId: line.invoice } } }))
  return { id: invoice.id, number: invoice.invoiceNumber ?? "a draft" }
}

const readIssues = async (integrationId: string): Promise<ReadonlyArray<IssueChoice>> => {
  const listing = (billed: boolean) =>
    load(
      api.GET("/api/v1/integrations/{integrationId}/issues", {
        params: { path: { integrationId }, query: { billed, deleted: false, limit: maxShown } }
      })
    )
  const [unbilled, billed] = await Promise.all([listing(false), listing(true)])
  return [
    ...unbilled.value.map((issue) => ({ issue, billedBy: undefined })),
    ...(await Promise.all(
      billed.value.map(async (issue) => ({
        issue,
        billedBy: (await findBilled(issue)) ?? { id: "", number: "another line" }
      }))
    ))
  ]
}

const readTrackers = async () => {
  const integrations = await readAll((cursor) =>
    api.GET("/api/v1/integrations", { params: { query: { ...(cursor && { cursor }) } } })
  )
  return integrations.filter(({ provider }) => provider === "JIRA")
}

interface IssueRowsProps {
  readonly issues: ReadonlyArray<IssueChoice>
  readonly picked: ReadonlySet<string>
  readonly onPick: (key: string) => void
}

const IssueRows = ({ issues, onPick, picked }: IssueRowsProps) => (
  <fieldset class="issues">
    <legend>Issues</legend>
    {issues.map(({ billedBy, issue: { id, issueKey, state, title } }) => (
      <label key={id} class={billedBy === undefined ? "issue" : "issue billed"}>
        <input
          type="checkbox"
          checked={picked.has(issueKey)}
          disabled={billedBy !== undefined}
          onChange={() => onPick(issueKey)}
        />
        <span class="row-main">
          <strong>{issueKey}</strong>
          <span>{title}</span>
        </span>
        {billedBy === undefined ? (
          <span class="muted">{state}</span>
        ) : (
          <span class="muted">
            on <a href={inTenant(`/invoices/${billedBy.id}`)}>{billedBy.number}</a>
          </span>
        )}
      </label>
    ))}
  </fieldset>
)

const requirePicked = (keys: ReadonlySet<string>) => {
  if (keys.size === 0) throw new ApiFailure(400, "Choose at least one issue")
}

/**
 * Makes a draft of the picked issues. The service knows a key by its operation, so both requests have the same: after a
 * reload between them, the same form makes no second draft.
 */
const createDraft = (
  contractId: string,
  lines: { readonly integrationId: string; readonly issueKeys: Array<string>; readonly amountMinor: number }
) =>
  withKey(`issues of ${contractId}`, async (headers) => {
    const { etag, value } = await load(api.POST("/api/v1/invoices", { body: { contractId }, headers }))
    const params = { path: { invoiceId: value.id } }
    await orUndo(
      read(api.POST("/api/v1/invoices/{invoiceId}/billables/from-issues", { params, body: lines, headers })),
      // The version is that of the empty draft: one with lines stays.
      () => done(api.DELETE("/api/v1/invoices/{invoiceId}", { params, headers: { "If-Match": etag ?? "" } }))
    )
    return value.id
  })

const toLines = (
  contract: Schemas["Contract"],
  integrationId: string,
  keys: ReadonlySet<string>,
  values: FormValues
) => {
  requirePicked(keys)
  const amountMinor = amountOf(values, "amountMinor", contract.currencyCode)
  if (amountMinor === undefined)
    throw new ApiFailure(400, "", [{ field: "amountMinor", constraint: "required", message: "is required" }])
  return { integrationId, issueKeys: [...keys], amountMinor, quantity: Number(values["quantity"] || 1) }
}

interface PickerProps {
  readonly contract: Schemas["Contract"]
  readonly integrationId: string
  readonly issues: ReadonlyArray<IssueChoice>
  readonly onClose: () => void
}

const Picker = ({ contract, integrationId, issues, onClose }: PickerProps) => {
  const { route } = useLocation()
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const open = issues.filter(({ billedBy }) => billedBy === undefined).map(({ issue }) => issue.issueKey)
  const toggle = (key: string) => {
    const next = new Set(picked)
    if (!next.delete(key)) next.add(key)
    setPicked(next)
  }
  if (issues.length === 0) return <Empty title="The tracker has sent no issue yet" />
  return (
    <Form
      submitLabel={
        picked.size === 0
          ? "Create draft"
          : `Create draft with ${picked.size} ${picked.size === 1 ? "issue" : "issues"}`
      }
      onCancel={onClose}
      onSubmit={async (values) => {
        const invoiceId = await createDraft(contract.id, toLines(contract, integrationId, picked, values))
        changes.value++
        onClose()
        route(inTenant(`/invoices/${invoiceId}`))
      }}
    >
      <button
        type="button"
        class="quiet"
        onClick={() => setPicked(picked.size === open.length ? new Set() : new Set(open))}
      >
        {picked.size === open.length && open.length > 0 ? "Choose none" : `Choose all ${open.length} unbilled`}
      </button>
      <IssueRows issues={issues} picked={picked} onPick={toggle} />
      <div class="field-row">
        <Field name="quantity" label="Quantity of each" type="number" value={1} />
        <Field
          name="amountMinor"
          label={`Price in ${contract.currencyCode}`}
          isRequired
          placeholder={editableAmount(8800, contract.currencyCode)}
        />
      </div>
    </Form>
  )
}

/** Picks issues of a tracker for a new invoice. Billed ones name their invoice and cannot be picked. */
export const PickIssues = ({
  contract,
  onClose
}: {
  readonly contract: Schemas["Contract"]
  readonly onClose: () => void
}) => {
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const trackers = useQuery("trackers", readTrackers)
  const integrationId = chosen ?? trackers.value?.[0]?.id
  const issues = useQuery(`issues ${integrationId}`, async () =>
    integrationId === undefined ? [] : readIssues(integrationId)
  )
  return (
    <Dialog title="Bill issues" onClose={onClose} isWide>
      <Shown query={trackers}>
        {(found) =>
          integrationId === undefined ? (
            <Empty title="No issue tracker is connected">An integration with Jira brings the issues.</Empty>
          ) : (
            <>
              {found.length > 1 && (
                <select
                  aria-label="Issue tracker"
                  value={integrationId}
                  onChange={({ currentTarget }) => setChosen(currentTarget.value)}
                >
                  {found.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
              <Shown query={issues}>
                {(list) => <Picker contract={contract} integrationId={integrationId} issues={list} onClose={onClose} />}
              </Shown>
            </>
          )
        }
      </Shown>
    </Dialog>
  )
}
