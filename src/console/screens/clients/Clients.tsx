import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { api, load, read } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { changes, usePages } from "../../api/query.ts"
import { hasRole, inTenant, tenantId } from "../../api/session.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { SearchFilter, useFilters } from "../../ui/Filters.tsx"
import { Choice, Field, Form, filled } from "../../ui/Form.tsx"
import { Page } from "../../ui/Page.tsx"
import { PagedList } from "../../ui/PagedList.tsx"
import { Day } from "../../ui/Value.tsx"
import { isLanguage, languages } from "./languages.ts"

const NewClient = ({ onClose }: { readonly onClose: () => void }) => {
  const { route } = useLocation()
  return (
    <Dialog title="New client" onClose={onClose}>
      <Form
        submitLabel="Create client"
        onCancel={onClose}
        onSubmit={async (values) => {
          const { language, name = "", ...rest } = filled(values)
          const body = { ...rest, name, ...(isLanguage(language) ? { language } : {}) }
          const { id } = await withKey("client", (headers) => read(api.POST("/api/v1/clients", { body, headers })))
          changes.value++
          onClose()
          route(inTenant(`/clients/${id}`))
        }}
      >
        <Field name="name" label="Name" isRequired hint="As invoices show it." />
        <Field name="description" label="Description" isLong />
        <Choice name="language" label="Language" options={languages} value="en" />
      </Form>
    </Dialog>
  )
}

/** All clients, by name. */
export const Clients = () => {
  const { filters, setFilter } = useFilters()
  const [isCreating, setCreating] = useState(false)
  const { q } = filters
  const pages = usePages(`clients ${tenantId.value} ${q ?? ""}`, () =>
    load(api.GET("/api/v1/clients", { params: { query: { sort: "name", ...(q && q.length > 1 ? { q } : {}) } } }))
  )
  const create = hasRole("MEMBER") && (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      New client
    </button>
  )
  return (
    <Page title="Clients" actions={create}>
      <search class="filters">
        <SearchFilter label="Search by name" value={q} onSearch={(text) => setFilter("q", text)} />
      </search>
      <PagedList
        pages={pages}
        label="Clients"
        keyOf={({ id }) => id}
        empty={create}
        row={({ createdAt, description, id, name }) => (
          <a class="row" href={inTenant(`/clients/${id}`)}>
            <span class="row-main">
              <strong>{name}</strong>
              <span class="muted">{description}</span>
            </span>
            <span class="wide-only muted">
              since <Day at={createdAt} />
            </span>
          </a>
        )}
      />
      {isCreating && <NewClient onClose={() => setCreating(false)} />}
    </Page>
  )
}
