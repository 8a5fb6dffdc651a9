import { useState } from "preact/hooks"
import { ApiFailure, api, type Loaded, load, messageOf, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { changes, useQuery } from "../../api/query.ts"
import { ifMatch } from "../../api/update.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Problems } from "../../ui/forms/Problems.tsx"
import { Loading, Shown } from "../../ui/State.tsx"
import { notify } from "../../ui/Toasts.tsx"
import { Day, Money } from "../../ui/Value.tsx"

type InvoiceValue = Schemas["Invoice"]

const finalize = (invoiceId: string, query: { readonly dryRun?: boolean }, headers: Readonly<Record<string, string>>) =>
  load(api.POST("/api/v1/invoices/{invoiceId}/finalize", { params: { path: { invoiceId }, query }, headers }))

/** What finalizing would do, or why the service would refuse it, and what an e-invoice would lack. */
const tryOut = async (invoiceId: string) => {
  const [preview, check] = await Promise.all([
    finalize(invoiceId, { dryRun: true }, {}).then(
      ({ value }) => ({ invoice: value, problems: [] }),
      (cause: unknown) => {
        if (!(cause instanceof ApiFailure) || cause.status !== 400) throw cause
        return { invoice: undefined, problems: cause.details }
      }
    ),
    read(api.GET("/api/v1/invoices/{invoiceId}/e-invoice-check", { params: { path: { invoiceId } } }))
  ])
  return { ...preview, check }
}

type Trial = Awaited<ReturnType<typeof tryOut>>

const Verdict = ({ check, invoice, problems }: Trial) => (
  <>
    {invoice !== undefined && (
      <div class="alert good">
        <p>
          Nothing stands in the way. The total will be{" "}
          <strong>
            <Money amountMinor={invoice.totalMinor} currencyCode={invoice.currencyCode} />
          </strong>
          , due <Day at={invoice.dueAt} />.
        </p>
        <p class="muted">Finalizing gives the invoice its number and freezes it.</p>
      </div>
    )}
    {problems.length > 0 && <Problems title="The invoice cannot be finalized yet:" details={problems} />}
    <h3>E-invoice</h3>
    {check.isReady ? (
      <p>Meets EN 16931: it can be sent as XML too.</p>
    ) : (
      <>
        <p class="muted">As an e-invoice (EN 16931) it lacks:</p>
        <ul class="checks">
          {check.errors.map(({ field, message, rule }) => (
            <li key={rule + field}>
              <code>{field}</code> {message} <small class="muted">{rule}</small>
            </li>
          ))}
        </ul>
      </>
    )}
  </>
)

/** Tries out finalizing, says what would be refused, and finalizes the version that was tried. */
export const FinalizeDialog = ({
  loaded,
  onClose
}: {
  readonly loaded: Loaded<InvoiceValue>
  readonly onClose: () => void
}) => {
  const { id } = loaded.value
  const [isSending, setSending] = useState(false)
  const trial = useQuery(`finalize ${id} ${loaded.etag}`, () => tryOut(id))
  const submit = async () => {
    if (isSending) return
    setSending(true)
    try {
      const { value } = await withKey(`finalize ${id}`, (key) => finalize(id, {}, { ...key, ...ifMatch(loaded) }))
      notify(`${value.invoiceNumber} is finalized`)
      onClose()
    } catch (cause) {
      const isOutdated = cause instanceof ApiFailure && cause.status === 412
      notify(isOutdated ? "Somebody changed the draft meanwhile. Look at it again." : messageOf(cause), {
        isError: true
      })
    }
    setSending(false)
    changes.value++
  }
  return (
    <Dialog title="Finalize" onClose={onClose}>
      <Shown query={trial}>
        {(found) => (
          <>
            <Verdict {...found} />
            <footer class="actions">
              <button type="button" onClick={onClose}>
                Not yet
              </button>
              {found.invoice !== undefined && (
                <button type="button" class="primary" aria-disabled={isSending} onClick={() => void submit()}>
                  Finalize
                </button>
              )}
            </footer>
          </>
        )}
      </Shown>
      {isSending && <Loading label="Finalizing" />}
    </Dialog>
  )
}
