import { useState } from "preact/hooks"
import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { hasRole } from "../../api/session.ts"
import { updateVersion } from "../../api/update.ts"
import { Facts } from "../../ui/Facts.tsx"
import { formatNumber } from "../../ui/format.ts"
import { Field } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Table } from "../../ui/Table.tsx"

type Series = Schemas["CreditNoteSeries"] | Schemas["InvoiceSeries"]
type Change = Schemas["PatchInvoiceSeries"]
type Version = { readonly "If-Match": string }

interface Numbered {
  readonly title: string
  readonly load: () => Promise<Loaded<Series>>
  readonly save: (body: Change, headers: Version) => Promise<Series>
}

const documents: ReadonlyArray<Numbered> = [
  {
    title: "Invoices",
    load: () => load(api.GET("/api/v1/invoice-series")),
    save: (body, headers) => read(api.PATCH("/api/v1/invoice-series", { body, headers }))
  },
  {
    title: "Credit notes",
    load: () => load(api.GET("/api/v1/credit-note-series")),
    save: (body, headers) => read(api.PATCH("/api/v1/credit-note-series", { body, headers }))
  }
]

type Period = Series["periods"][number]

/** The proof: a tax office wants to know that no number is missing. */
const Proof = ({ gaps }: Pick<Period, "gaps">) =>
  gaps.length === 0 ? (
    <span class="badge good">No number is missing</span>
  ) : (
    <span class="badge bad">
      Missing {gaps.map(({ from, to }) => (from === to ? String(from) : `${from}–${to}`)).join(", ")}
    </span>
  )

const Periods = ({ periods, title }: { readonly periods: ReadonlyArray<Period>; readonly title: string }) => (
  <Table
    label={`Numbers of ${title.toLowerCase()}`}
    columns={["Period", "Proof", "First", "Last", "Count", "Void"]}
    right={["Count", "Void"]}
    rows={periods.map((period) => ({
      key: period.period,
      cells: [
        period.period,
        <Proof key="proof" gaps={period.gaps} />,
        period.first ?? "—",
        period.last ?? "—",
        formatNumber(period.count),
        "voids" in period ? formatNumber(period.voids) : "—"
      ]
    }))}
  />
)

interface EditProps {
  readonly document: Numbered
  readonly loaded: Loaded<Series>
  readonly onClose: () => void
}

const EditSeries = ({ document: { load, save, title }, loaded, onClose }: EditProps) => {
  const { next, pattern } = loaded.value
  return (
    <FormDialog
      title={`Numbers of ${title.toLowerCase()}`}
      about="Numbers that are given stay as they are."
      submitLabel="Save"
      onClose={onClose}
      onSubmit={async ({ next: given = "", pattern: format = "" }) => {
        const body = { pattern: format, ...(given === String(next) ? {} : { next: Number(given) }) }
        const saved = await updateVersion(loaded, body, (headers) => save(body, headers), load)
        return saved && "The numbers are saved"
      }}
    >
      <Field
        name="pattern"
        label="Format"
        value={pattern}
        isRequired
        hint="{seq:6} is the counter with six digits. With {year} it begins again every year."
      />
      <Field
        name="next"
        label="Next counter"
        type="number"
        value={next}
        hint="To continue a series from elsewhere: only before the first number of a period."
      />
    </FormDialog>
  )
}

const SeriesCard = ({ document }: { readonly document: Numbered }) => {
  const [isEdited, setEdited] = useState(false)
  const { title } = document
  const query = useQuery(`series ${title}`, document.load)
  const edit = hasRole("ADMIN") && (
    <button type="button" aria-label={`Edit numbers of ${title.toLowerCase()}`} onClick={() => setEdited(true)}>
      Edit
    </button>
  )
  return (
    <Section title={title} action={edit}>
      <Shown query={query}>
        {(loaded) => (
          <>
            <Facts
              facts={[
                ["Format", <code key="format">{loaded.value.pattern}</code>],
                ["Next counter", formatNumber(loaded.value.next)]
              ]}
            />
            {loaded.value.periods.length === 0 ? (
              <p class="muted">No number is given yet.</p>
            ) : (
              <Periods periods={loaded.value.periods} title={title} />
            )}
            {isEdited && <EditSeries document={document} loaded={loaded} onClose={() => setEdited(false)} />}
          </>
        )}
      </Shown>
    </Section>
  )
}

/** How documents are numbered, with the proof that no number is missing. */
export const NumberSeries = () => (
  <>
    {documents.map((document) => (
      <SeriesCard key={document.title} document={document} />
    ))}
  </>
)
