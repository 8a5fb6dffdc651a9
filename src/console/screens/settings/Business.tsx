import { useState } from "preact/hooks"
import { formatIban } from "../../../domain/money/IbanFormat.ts"
import type { Loaded } from "../../api/client.ts"
import { hasRole } from "../../api/session.ts"
import { Facts } from "../../ui/Facts.tsx"
import { Choice, Field, type FormValues, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Addresses } from "../clients/Addresses.tsx"
import { saveTenant, type Tenant, useTenant } from "./tenantSettings.ts"

interface PartProps {
  readonly loaded: Loaded<Tenant>
  readonly onClose: () => void
}

const saved = (tenant: Tenant | undefined) => tenant && "The settings are saved"

const timeZones = (current: string) =>
  [...new Set(["UTC", current, ...Intl.supportedValuesOf("timeZone")])].map((zone) => [zone, zone] as const)

const EditBusiness = ({ loaded, onClose }: PartProps) => {
  const { description, name, timeZone } = loaded.value
  return (
    <FormDialog
      title="Business"
      submitLabel="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        const { description: text = "", name: newName = "", timeZone: zone = timeZone } = values
        const body = { name: newName, description: text === "" ? null : text, timeZone: zone }
        return saved(await saveTenant(loaded, body))
      }}
    >
      <Field name="name" label="Name" value={name} isRequired hint="As invoices show it." />
      <Field name="description" label="Description" value={description} isLong />
      <Choice
        name="timeZone"
        label="Time zone"
        value={timeZone}
        options={timeZones(timeZone)}
        hint="Decides the year in a number, the dates on paper and when an invoice is overdue."
      />
    </FormDialog>
  )
}

/** The fields of a form that begin with a name and a point, without it. Empty ones are left out. */
const within = (parent: string, values: FormValues): FormValues =>
  Object.fromEntries(
    Object.entries(filled(values)).flatMap(([name, value]) =>
      name.startsWith(`${parent}.`) ? [[name.slice(parent.length + 1), value.trim()]] : []
    )
  )

const EditBankAccount = ({ loaded, onClose }: PartProps) => {
  const { bankAccount } = loaded.value
  return (
    <FormDialog
      title="Bank account"
      about="Invoices and their pages say where to pay to. All fields empty removes the account."
      submitLabel="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        const account = within("bankAccount", values)
        const { iban = "", name = "", ...rest } = account
        const isEmpty = Object.keys(account).length === 0
        return saved(
          await saveTenant(loaded, {
            bankAccount: isEmpty ? null : { ...rest, name, iban: iban.replaceAll(/\s/g, "") }
          })
        )
      }}
    >
      <Field name="bankAccount.name" label="Holder" value={bankAccount?.name} />
      <Field name="bankAccount.iban" label="IBAN" value={bankAccount && formatIban(bankAccount.iban)} />
      <Field name="bankAccount.bic" label="BIC" value={bankAccount?.bic} />
    </FormDialog>
  )
}

const EditBillingContact = ({ loaded, onClose }: PartProps) => {
  const { billingContact } = loaded.value
  return (
    <FormDialog
      title="Billing contact"
      about="Whom clients ask about invoices. E-invoices name it."
      submitLabel="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        const contact = within("billingContact", values)
        return saved(await saveTenant(loaded, { billingContact: Object.keys(contact).length === 0 ? null : contact }))
      }}
    >
      <Field name="billingContact.name" label="Name" value={billingContact?.name} placeholder="Accounts receivable" />
      <Field name="billingContact.email" label="E-mail" type="email" value={billingContact?.email} />
      <Field name="billingContact.phone" label="Telephone" value={billingContact?.phone} />
    </FormDialog>
  )
}

const editors = { business: EditBusiness, bank: EditBankAccount, contact: EditBillingContact }
type Editor = keyof typeof editors

/** The business itself, as its invoices show it. */
export const Business = () => {
  const [edited, setEdited] = useState<Editor | undefined>(undefined)
  const query = useTenant()
  const Edit = edited && editors[edited]
  const edit = (editor: Editor, label: string) =>
    hasRole("ADMIN") && (
      <button type="button" aria-label={`Edit ${label}`} onClick={() => setEdited(editor)}>
        Edit
      </button>
    )
  return (
    <Shown query={query}>
      {(loaded) => {
        const { bankAccount, billingContact, description, name, timeZone } = loaded.value
        return (
          <div class="columns halves">
            <div>
              <Section title="Business" action={edit("business", "business")}>
                <Facts
                  facts={[
                    ["Name", name],
                    ["Description", description],
                    ["Time zone", timeZone]
                  ]}
                />
              </Section>
              <Section title="Bank account" action={edit("bank", "bank account")}>
                {bankAccount === undefined ? (
                  <p class="muted">Invoices do not say where to pay to yet.</p>
                ) : (
                  <Facts
                    facts={[
                      ["Holder", bankAccount.name],
                      ["IBAN", formatIban(bankAccount.iban)],
                      ["BIC", bankAccount.bic]
                    ]}
                  />
                )}
              </Section>
              <Section title="Billing contact" action={edit("contact", "billing contact")}>
                {billingContact === undefined ? (
                  <p class="muted">No contact yet. E-invoices need one.</p>
                ) : (
                  <Facts
                    facts={[
                      ["Name", billingContact.name],
                      ["E-mail", billingContact.email],
                      ["Telephone", billingContact.phone]
                    ]}
                  />
                )}
              </Section>
            </div>
            <Addresses canWrite={hasRole("MEMBER")} />
            {Edit && <Edit loaded={loaded} onClose={() => setEdited(undefined)} />}
          </div>
        )
      }}
    </Shown>
  )
}
