import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { api, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { changes } from "../../api/query.ts"
import { inTenant } from "../../api/session.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Field, FieldError, Form } from "../../ui/forms/Form.tsx"
import { ConfigFields, toBody } from "./ConfigFields.tsx"
import { isProvider, type Provider, providers } from "./providers.ts"
import { hasShownOnce, SecretDialog } from "./SecretDialog.tsx"

const kinds = Object.entries(providers)

interface KindChoiceProps {
  readonly chosen: Provider
  readonly onChoose: (provider: Provider) => void
}

const KindChoice = ({ chosen, onChoose }: KindChoiceProps) => (
  <fieldset class="kinds">
    <legend>Kind</legend>
    {kinds.map(([provider, { about, label }]) => (
      <label key={provider} class="kind">
        <input
          type="radio"
          name="provider"
          value={provider}
          checked={provider === chosen}
          onChange={() => isProvider(provider) && onChoose(provider)}
        />
        <span>
          <strong>{label}</strong>
          <small class="muted">{about}</small>
        </span>
      </label>
    ))}
    <FieldError name="provider" />
  </fieldset>
)

/** Creates an integration, and shows the secret that only the response of the creation has. */
export const NewIntegration = ({ onClose }: { readonly onClose: () => void }) => {
  const { route } = useLocation()
  const [provider, setProvider] = useState<Provider>("WEBHOOK")
  const [created, setCreated] = useState<Schemas["IntegrationWithSecret"] | undefined>(undefined)
  const open = (id: string) => {
    onClose()
    changes.value++
    route(inTenant(`/integrations/${id}`))
  }
  if (created !== undefined) return <SecretDialog issued={created} onClose={() => open(created.id)} />
  return (
    <Dialog title="New integration" onClose={onClose}>
      <Form
        submitLabel="Create integration"
        onCancel={onClose}
        onSubmit={async (values) => {
          const body = { provider, ...toBody(provider, values) }
          const integration = await withKey("integration", (headers) =>
            read(api.POST("/api/v1/integrations", { body, headers }))
          )
          if (hasShownOnce(integration)) setCreated(integration)
          else open(integration.id)
        }}
      >
        <KindChoice chosen={provider} onChoose={setProvider} />
        <Field name="name" label="Name" isRequired placeholder="Bookkeeping" />
        <ConfigFields key={provider} provider={provider} />
      </Form>
    </Dialog>
  )
}
