import { useLocation } from "preact-iso/router"
import { api, read } from "../api/client.ts"
import { withKey } from "../api/idempotency.ts"
import { Field, Form } from "../ui/forms/Form.tsx"
import { addTenant } from "./signIn.ts"

/** For a user who is not a member of any tenant. */
export const FirstTenant = () => {
  const { route } = useLocation()
  return (
    <main class="sign-in">
      <div class="card">
        <h1>Welcome</h1>
        <p>Everything belongs to a business. Name yours to begin; you will be its owner.</p>
        <Form
          submitLabel="Create"
          onSubmit={async ({ name = "" }) => {
            const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
            const created = await withKey("tenant", (headers) =>
              read(api.POST("/api/v1/tenants", { body: { name, timeZone }, headers }))
            )
            addTenant(created)
            route(`/console/${created.id}`)
          }}
        >
          <Field name="name" label="Name of the business" isRequired />
        </Form>
      </div>
    </main>
  )
}
