import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { api, load, read } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { Choice, Field, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { SearchFilter, searchQuery, useFilters } from "../../ui/lists/Filters.tsx"
import { ListScreen } from "../../ui/lists/ListScreen.tsx"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Day } from "../../ui/Value.tsx"
import { isLanguage, languages } from "./languages.ts"

const NewClient = ({ onClose }: { readonly onClose: () => void }) => {
  const { route } = useLocation()
  return (
    <FormDialog
      title="New client"
      submitLabel="Create client"
      onClose={onClose}
      onSubmit={async (values) => {
        const { language, name = "", ...rest } = filled(values)
        const body = { ...rest, name, ...(isLanguage(language) ? { language } : {}) }
        const { id } = await withKey("client", (headers) => read(api.POST("/api/v1/clients", { body, headers })))
        route(inTenant(`/clients/${id}`))
        return undefined
      }}
    >
      <Field name="name" label="Name" isRequired hint="As invoices show it." />
      <Field name="description" label="Description" isLong />
      <Choice name="language" label="Language" options={languages} value="en" />
    </FormDialog>
  )
}

/** All clients, by name. */
export const Clients = () => {
  const { filters } = useFilters()
  const [isCreating, setCreating] = useState(false)
  const create = hasRole("MEMBER") && (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      New client
    </button>
  )
  return (
    <>
      <ListScreen
        title="Clients"
        actions={create}
        filters={<SearchFilter label="Search by name" />}
        query={{ sort: "name" as const, ...searchQuery(filters) }}
        readPage={(query) => load(api.GET("/api/v1/clients", { params: { query } }))}
        empty={create}
        row={({ createdAt, description, id, name }) => (
          <RowLink
            href={inTenant(`/clients/${id}`)}
            title={name}
            about={description}
            side={
              <span class="wide-only muted">
                since <Day at={createdAt} />
              </span>
            }
          />
        )}
      />
      {isCreating && <NewClient onClose={() => setCreating(false)} />}
    </>
  )
}
