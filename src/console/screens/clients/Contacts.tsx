import { useState } from "preact/hooks"
import { api, read, readAll } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { useQuery } from "../../api/query.ts"
import { Choice, Field, type FormValues, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"

const readContacts = async (clientId: string) => {
  const contacts = await readAll((cursor) =>
    api.GET("/api/v1/contacts", { params: { query: { clientId, ...(cursor && { cursor }) } } })
  )
  return Promise.all(
    contacts.map(async (contact) => ({
      ...contact,
      emails: await readAll((cursor) =>
        api.GET("/api/v1/emails", { params: { query: { contactId: contact.id, ...(cursor && { cursor }) } } })
      )
    }))
  )
}

const createContact = async (clientId: string, values: FormValues) => {
  const { name = "", receives, role } = filled(values)
  const body = { clientId, name, receivesInvoices: receives === "yes", ...(role === undefined ? {} : { role }) }
  await withKey(`contact ${clientId}`, (headers) => read(api.POST("/api/v1/contacts", { body, headers })))
}

const createEmail = (contactId: string, address: string) =>
  withKey(`email ${contactId}`, (headers) =>
    read(api.POST("/api/v1/emails", { body: { contactId, address }, headers }))
  )

const NewContact = ({ clientId, onClose }: { readonly clientId: string; readonly onClose: () => void }) => (
  <FormDialog
    title="New contact"
    submitLabel="Save"
    onClose={onClose}
    onSubmit={async (values) => {
      await createContact(clientId, values)
      return undefined
    }}
  >
    <Field name="name" label="Name" isRequired />
    <Field name="role" label="Role" placeholder="Accounts payable" />
    <Choice
      name="receives"
      label="Receives invoices"
      options={[
        ["yes", "Yes"],
        ["no", "No"]
      ]}
      value="yes"
    />
  </FormDialog>
)

const NewEmail = ({ contactId, onClose }: { readonly contactId: string; readonly onClose: () => void }) => (
  <FormDialog
    title="New e-mail address"
    submitLabel="Save"
    onClose={onClose}
    onSubmit={async ({ address = "" }) => {
      await createEmail(contactId, address)
      return undefined
    }}
  >
    <Field name="address" label="Address" type="email" isRequired />
  </FormDialog>
)

/** The people of a client, with their e-mail addresses. */
export const Contacts = ({ canWrite, clientId }: { readonly clientId: string; readonly canWrite: boolean }) => {
  const [panel, setPanel] = useState<"contact" | { readonly contactId: string } | undefined>(undefined)
  const query = useQuery(`client ${clientId} contacts`, () => readContacts(clientId))
  const add = canWrite && (
    <button type="button" onClick={() => setPanel("contact")}>
      Add
    </button>
  )
  return (
    <Section title="Contacts" action={add}>
      <Shown query={query}>
        {(contacts) =>
          contacts.length === 0 ? (
            <p class="muted">No contact yet. Those who receive invoices get them by mail.</p>
          ) : (
            <ul class="plain">
              {contacts.map(({ emails, id, name, receivesInvoices, role }) => (
                <li key={id} class="split">
                  <div>
                    <strong>{name}</strong> <span class="muted">{role}</span>
                    {receivesInvoices && <span class="badge info">Receives invoices</span>}
                    {emails.map(({ address, id: emailId }) => (
                      <div key={emailId}>{address}</div>
                    ))}
                  </div>
                  {canWrite && (
                    <button
                      type="button"
                      class="quiet"
                      aria-label={`Add e-mail of ${name}`}
                      onClick={() => setPanel({ contactId: id })}
                    >
                      Add e-mail
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      {panel === "contact" && <NewContact clientId={clientId} onClose={() => setPanel(undefined)} />}
      {typeof panel === "object" && <NewEmail contactId={panel.contactId} onClose={() => setPanel(undefined)} />}
    </Section>
  )
}
