import { useState } from "preact/hooks"
import { api, load, read, readAll, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { useQuery } from "../../api/query.ts"
import { changedFields, updateListed } from "../../api/update.ts"
import { Field, type FormValues, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"

type Address = Schemas["Address"]

const readAddress = (addressId: string) =>
  load(api.GET("/api/v1/addresses/{addressId}", { params: { path: { addressId } } }))

/** The fields that the API requires are sent even if they are empty, so that it says at which field one is missing. */
const toBody = (values: FormValues) => {
  const { address1 = "", city = "", country = "", name = "", zip = "" } = values
  return { ...filled(values), address1, city, country, name, zip }
}

const saveAddress = async (clientId: string | undefined, address: Address | undefined, values: FormValues) => {
  if (address === undefined)
    return withKey(`address ${clientId}`, (headers) =>
      read(api.POST("/api/v1/addresses", { body: { ...toBody(values), ...(clientId && { clientId }) }, headers }))
    )
  const body = changedFields(address, toBody(values))
  if (Object.keys(body).length === 0) return address
  const write = (headers: { "If-Match": string }) =>
    read(api.PATCH("/api/v1/addresses/{addressId}", { params: { path: { addressId: address.id } }, body, headers }))
  return updateListed(address, body, write, () => readAddress(address.id))
}

interface AddressFormProps {
  readonly clientId: string | undefined
  readonly address?: Address | undefined
  readonly onClose: () => void
}

const AddressForm = ({ address, clientId, onClose }: AddressFormProps) => (
  <FormDialog
    title={address === undefined ? "New address" : "Edit address"}
    submitLabel="Save"
    onClose={onClose}
    onSubmit={async (values) => {
      await saveAddress(clientId, address, values)
      return undefined
    }}
  >
    <Field name="name" label="Name" value={address?.name} isRequired hint="Usually the legal entity." />
    <Field name="address1" label="Street and number" value={address?.address1} isRequired />
    <Field name="address2" label="Building, floor or department" value={address?.address2} />
    <div class="field-row">
      <Field name="zip" label="Postal code" value={address?.zip} isRequired />
      <Field name="city" label="City" value={address?.city} isRequired />
    </div>
    <div class="field-row">
      <Field name="country" label="Country" value={address?.country} isRequired />
      <Field name="countryCode" label="Country code" value={address?.countryCode} placeholder="DE" />
    </div>
    <Field name="vatNumber" label="VAT number" value={address?.vatNumber} />
  </FormDialog>
)

interface AddressesProps {
  /** Without a client, the addresses of the tenant itself. */
  readonly clientId?: string
  readonly canWrite: boolean
}

/** The addresses of a party of invoices, which show the first one. */
export const Addresses = ({ canWrite, clientId }: AddressesProps) => {
  const [edited, setEdited] = useState<Address | "new" | undefined>(undefined)
  const owner = clientId === undefined ? { ofTenant: true } : { clientId }
  const query = useQuery(`addresses of ${clientId}`, () =>
    readAll((cursor) => api.GET("/api/v1/addresses", { params: { query: { ...owner, ...(cursor && { cursor }) } } }))
  )
  const add = canWrite && (
    <button type="button" onClick={() => setEdited("new")}>
      Add
    </button>
  )
  return (
    <Section title="Addresses" action={add}>
      <Shown query={query}>
        {(addresses) =>
          addresses.length === 0 ? (
            <p class="muted">No address yet. Invoices show the first one.</p>
          ) : (
            <ul class="plain">
              {addresses.map((address) => (
                <li key={address.id} class="split">
                  <address>
                    <strong>{address.name}</strong>
                    <br />
                    {address.address1}
                    <br />
                    {address.zip} {address.city}
                    <br />
                    {address.country}
                    {address.vatNumber !== undefined && <div class="muted">{address.vatNumber}</div>}
                  </address>
                  {canWrite && (
                    <button
                      type="button"
                      class="quiet"
                      aria-label={`Edit address ${address.name}`}
                      onClick={() => setEdited(address)}
                    >
                      Edit
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      {edited !== undefined && (
        <AddressForm
          clientId={clientId}
          address={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Section>
  )
}
