import { useLocation } from "preact-iso/router"
import { api, read } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { inTenant } from "../../api/session.ts"
import { amountOf } from "../../ui/forms/Amount.tsx"
import { Choice, Field, type FormValues } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"

const isStatus = (text: string | undefined): text is "DRAFT" | "ACTIVE" => text === "DRAFT" || text === "ACTIVE"

const toBody = (clientId: string, values: FormValues) => {
  const { currencyCode = "", description = "", name = "", paymentTermDays = "", status } = values
  const capMinor = amountOf(values, "capMinor", currencyCode)
  return {
    clientId,
    name,
    currencyCode,
    ...(isStatus(status) ? { status } : {}),
    ...(description === "" ? {} : { description }),
    ...(paymentTermDays === "" ? {} : { paymentTermDays: Number(paymentTermDays) }),
    ...(capMinor === undefined ? {} : { capMinor })
  }
}

export const NewContract = ({ clientId, onClose }: { readonly clientId: string; readonly onClose: () => void }) => {
  const { route } = useLocation()
  return (
    <FormDialog
      title="New contract"
      submitLabel="Create contract"
      onClose={onClose}
      onSubmit={async (values) => {
        const body = toBody(clientId, values)
        const { id } = await withKey(`contract ${clientId}`, (headers) =>
          read(api.POST("/api/v1/contracts", { body, headers }))
        )
        route(inTenant(`/contracts/${id}`))
        return undefined
      }}
    >
      <Field name="name" label="Name" isRequired hint="As invoices show it." />
      <div class="field-row">
        <Field name="currencyCode" label="Currency" value="EUR" isRequired />
        <Field name="paymentTermDays" label="Payment term in days" type="number" value={30} />
      </div>
      <Field name="capMinor" label="Cap" hint="Most that all its invoices together can bill. Empty for none." />
      <Choice
        name="status"
        label="Status"
        options={[
          ["ACTIVE", "Active"],
          ["DRAFT", "Draft: cannot be invoiced yet"]
        ]}
        value="ACTIVE"
      />
      <Field name="description" label="Description" isLong />
    </FormDialog>
  )
}
