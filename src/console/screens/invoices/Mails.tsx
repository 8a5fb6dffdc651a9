import { api, readAll } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Badge, Day } from "../../ui/Value.tsx"

/** To whom the invoice was sent, and what became of each mail. */
export const Mails = ({ invoiceId }: { readonly invoiceId: string }) => {
  const query = useQuery(`mails ${invoiceId}`, () =>
    readAll((cursor) =>
      api.GET("/api/v1/invoices/{invoiceId}/deliveries", {
        params: { path: { invoiceId }, query: { ...(cursor && { cursor }) } }
      })
    )
  )
  return (
    <Section title="Mails">
      <Shown query={query}>
        {(mails) =>
          mails.length === 0 ? (
            <p class="muted">Not sent by mail yet.</p>
          ) : (
            <ul class="rows">
              {mails.map(({ error, finishedAt, id, recipient, requestedAt, status }) => (
                <li key={id} class="row still">
                  <span class="row-main">
                    <strong>{recipient}</strong>
                    <span class="muted">{error ?? <Day at={finishedAt ?? requestedAt} />}</span>
                  </span>
                  <Badge status={status} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  )
}
