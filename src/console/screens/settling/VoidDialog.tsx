import { ApiFailure, api, type Loaded, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { useFreshQuery } from "../../api/query.ts"
import { ifMatch } from "../../api/update.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Problems } from "../../ui/forms/Problems.tsx"
import { Shown } from "../../ui/State.tsx"

const voidInvoice = (
  invoiceId: string,
  query: { readonly dryRun?: boolean },
  headers: Readonly<Record<string, string>>
) => read(api.POST("/api/v1/invoices/{invoiceId}/void", { params: { path: { invoiceId }, query }, headers }))

/** Why the service would refuse it. */
const findProblems = (invoiceId: string) =>
  voidInvoice(invoiceId, { dryRun: true }, {}).then(
    () => [],
    (cause: unknown) => {
      if (!(cause instanceof ApiFailure) || cause.status !== 400) throw cause
      return cause.details
    }
  )

/** Voids an invoice after a question, because nothing reverts it. Says instead what keeps it from being voided. */
export const VoidDialog = ({
  loaded,
  onClose
}: {
  readonly loaded: Loaded<Schemas["Invoice"]>
  readonly onClose: () => void
}) => {
  const { id } = loaded.value
  const trial = useFreshQuery(`void ${id}`, () => findProblems(id))
  if (trial.value?.length === 0)
    return (
      <FormDialog
        title="Void"
        about="A void invoice keeps its number, and nothing reverts it. What its lines refer to can be billed again."
        submitLabel="Void invoice"
        onClose={onClose}
        onSubmit={async () => {
          await withKey(`void ${id}`, (key) => voidInvoice(id, {}, { ...key, ...ifMatch(loaded) }))
          return "The invoice is void"
        }}
      />
    )
  return (
    <Dialog title="Void" onClose={onClose}>
      <Shown query={trial}>{(details) => <Problems title="The invoice cannot be voided:" details={details} />}</Shown>
    </Dialog>
  )
}
