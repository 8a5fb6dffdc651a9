import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import type { Schemas } from "../../api/client.ts"
import { changes } from "../../api/query.ts"
import { inTenant } from "../../api/session.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Field, Form } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { ConfigFields, toBody } from "./ConfigFields.tsx"
import { deleteIntegration, type LoadedIntegration, patchIntegration, rotateSecret } from "./integrationApi.ts"
import { isTracker } from "./providers.ts"
import { SecretDialog } from "./SecretDialog.tsx"

interface DialogProps {
  readonly loaded: LoadedIntegration
  readonly onClose: () => void
}

export const EditDialog = ({ loaded, onClose }: DialogProps) => {
  const { config, name, provider } = loaded.value
  return (
    <FormDialog
      title="Edit integration"
      submitLabel="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        const saved = await patchIntegration(loaded, toBody(provider, values, config))
        return saved && `${saved.name} is saved`
      }}
    >
      <Field name="name" label="Name" value={name} isRequired />
      <ConfigFields provider={provider} config={config} />
    </FormDialog>
  )
}

/** Replaces the secret or the webhook address, and shows the new one once. */
export const RotateDialog = ({ loaded, onClose }: DialogProps) => {
  const [issued, setIssued] = useState<Schemas["IntegrationWithSecret"] | undefined>(undefined)
  const what = isTracker(loaded.value.provider) ? "webhook address" : "signing secret"
  const close = () => {
    changes.value++
    onClose()
  }
  if (issued !== undefined) return <SecretDialog issued={issued} onClose={close} />
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
    <FormDialog
      title="Delete integration"
      about={`Deletes ${loaded.value.name} with its subscriptions and deliveries, and gives back its authorization. Nothing reverts it.`}
      submitLabel="Delete integration"
      onClose={onClose}
      onSubmit={async () => {
        if (!(await deleteIntegration(loaded))) return undefined
        route(inTenant("/integrations"), true)
        return `${loaded.value.name} is deleted`
      }}
    />
  )
}
