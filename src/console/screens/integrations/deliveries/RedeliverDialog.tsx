import { api, read } from "../../../api/client.ts"
import { withKey } from "../../../api/idempotency.ts"
import { changes } from "../../../api/query.ts"
import { Dialog } from "../../../ui/forms/Dialog.tsx"
import { Choice, Field, Form } from "../../../ui/forms/Form.tsx"
import { notify } from "../../../ui/Toasts.tsx"

const finished = [
  ["EXHAUSTED", "Exhausted: those that failed for good"],
  ["DELIVERED", "Delivered: everything that arrived"],
  ["UNCERTAIN", "Uncertain: mails that may have arrived"]
] as const

const dayMs = 24 * 60 * 60 * 1000

interface RedeliverDialogProps {
  readonly integrationId: string
  readonly onClose: () => void
}

/** Sends all finished deliveries of a period again. */
export const RedeliverDialog = ({ integrationId, onClose }: RedeliverDialogProps) => (
  <Dialog title="Redeliver many" onClose={onClose}>
    <Form
      submitLabel="Redeliver"
      onCancel={onClose}
      onSubmit={async (values) => {
        const status = finished.map(([value]) => value).find((value) => value === values["status"])
        const { isComplete, redelivered } = await withKey(`redeliver many ${integrationId}`, (headers) =>
          read(
            api.POST("/api/v1/integrations/{integrationId}/redeliver", {
              params: { path: { integrationId } },
              body: { since: `${values["since"]}T00:00:00.000Z`, ...(status === undefined ? {} : { status }) },
              headers
            })
          )
        )
        notify(
          `${redelivered} ${redelivered === 1 ? "delivery is" : "deliveries are"} sent again${isComplete ? "" : ", and more follow"}`
        )
        changes.value++
        onClose()
      }}
    >
      <Field
        name="since"
        label="Created since"
        type="date"
        value={new Date(Date.now() - dayMs).toISOString().slice(0, 10)}
        isRequired
      />
      <Choice name="status" label="Which" options={finished} value="EXHAUSTED" />
    </Form>
  </Dialog>
)
