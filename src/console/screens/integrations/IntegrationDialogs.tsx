import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import type { Schemas } from "../../api/client.ts"
import { changes } from "../../api/query.ts"
import { inTenant } from "../../api/session.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Field, Form, filled } from "../../ui/forms/Form.tsx"
import { notify } from "../../ui/Toasts.tsx"
import { ConfigFields, toConfig } from "./ConfigFields.tsx"
import { deleteIntegration, type LoadedIntegration, patchIntegration, rotateSecret } from "./integrationApi.ts"
import { isTracker } from "./providers.ts"
import { SecretDialog } from "./SecretDialog.tsx"

interface DialogProps {
  readonly loaded: LoadedIntegration
  readonly onClose: () => void
}

const finish = (text: string | undefined, onClose: () => void) => {
  if (text !== undefined) notify(text)
  changes.value++
  onClose()
}

export const EditDialog = ({ loaded, onClose }: DialogProps) => {
  const { config, name, provider } = loaded.value
  return (
    <Dialog title="Edit integration" onClose={onClose}>
      <Form
        submitLabel="Save"
        onCancel={onClose}
        onSubmit={async (values) => {
          const { password } = filled(values)
          const saved = await patchIntegration(loaded, {
            name: values["name"] ?? "",
            config: toConfig(provider, values, config),
            ...(password === undefined ? {} : { password })
          })
          finish(saved && `${saved.name} is saved`, onClose)
        }}
      >
        <Field name="name" label="Name" value={name} isRequired />
        <ConfigFields provider={provider} config={config} />
      </Form>
    </Dialog>
  )
}

/** Replaces the secret or the webhook address, and shows the new one once. */
export const RotateDialog = ({ loaded, onClose }: DialogProps) => {
  const [issued, setIssued] = useState<Schemas["IntegrationWithSecret"] | undefined>(undefined)
  const what = isTracker(loaded.value.provider) ? "webhook address" : "signing secret"
  if (issued !== undefined) return <SecretDialog issued={issued} onClose={() => finish(undefined, onClose)} />
  return (
    <Dialog title={`New ${what}`} onClose={onClose}>
      <p>
        The old {what} stays valid beside the new one for some hours, so that nothing gets lost while you change it.
      </p>
      <Form
        submitLabel={`Replace ${what}`}
        onCancel={onClose}
        onSubmit={async ({ overlapHours = "" }) => {
          const rotated = await rotateSecret(loaded, Number(overlapHours))
          if (rotated === undefined) onClose()
          else setIssued(rotated)
        }}
      >
        <Field name="overlapHours" label="Hours beside each other" type="number" value={24} />
      </Form>
    </Dialog>
  )
}

export const DeleteDialog = ({ loaded, onClose }: DialogProps) => {
  const { route } = useLocation()
  return (
    <Dialog title="Delete integration" onClose={onClose}>
      <p>
        Deletes {loaded.value.name} with its subscriptions and deliveries, and gives back its authorization. Nothing
        reverts it.
      </p>
      <Form
        submitLabel="Delete integration"
        onCancel={onClose}
        onSubmit={async () => {
          if (await deleteIntegration(loaded)) {
            route(inTenant("/integrations"), true)
            finish(`${loaded.value.name} is deleted`, onClose)
          } else finish(undefined, onClose)
        }}
      >
        {null}
      </Form>
    </Dialog>
  )
}
