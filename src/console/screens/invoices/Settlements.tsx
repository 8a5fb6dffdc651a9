import { api, read } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { inTenant } from "../../api/session.ts"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"

const readSettlements = async (invoiceId: string) => {
  const params = { query: { invoiceId, limit: 50 } }
  const [payments, notes] = await Promise.all([
    read(api.GET("/api/v1/payments", { params })),
    read(api.GET("/api/v1/credit-notes", { params }))
  ])
  return [
    ...payments.map(({ amountMinor, id, receivedAt, ...rest }) => ({
      ...rest,
      href: `/payments/${id}`,
      title: "Payment",
      day: receivedAt,
      amountMinor
    })),
    ...notes.map(({ createdAt, creditNoteNumber, id, issuedAt, totalMinor, ...rest }) => ({
      ...rest,
      href: `/credit-notes/${id}`,
      title: creditNoteNumber ?? "Draft credit note",
      day: issuedAt ?? createdAt,
      amountMinor: totalMinor
    }))
  ]
}

/** The payments and the credit notes of an invoice. */
export const Settlements = ({ invoiceId }: { readonly invoiceId: string }) => {
  const query = useQuery(`settlements of ${invoiceId}`, () => readSettlements(invoiceId))
  return (
    <Section title="Payments and credit notes">
      <Shown query={query}>
        {(found) =>
          found.length === 0 ? (
            <p class="muted">Nothing is paid or credited yet.</p>
          ) : (
            <ul class="rows">
              {found.map(({ amountMinor, currencyCode, day, href, status, title }) => (
                <li key={href}>
                  <RowLink
                    href={inTenant(href)}
                    title={title}
                    about={<Day at={day} />}
                    side={
                      <>
                        <Money amountMinor={amountMinor} currencyCode={currencyCode} />
                        <Badge status={status} />
                      </>
                    }
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  )
}
