import { useState } from "preact/hooks"
import { readFile } from "../../api/client.ts"
import { hasRole, tenant, tenantId } from "../../api/session.ts"
import { saveFile } from "../../ui/download.ts"
import { DayFilter, useFilters } from "../../ui/lists/Filters.tsx"
import { Section } from "../../ui/Page.tsx"
import { attempt } from "../../ui/Toasts.tsx"

interface Period {
  readonly from: string
  readonly to: string
}

interface Table {
  readonly title: string
  readonly about: string
  readonly path: (period: Period) => string
}

const search = (values: Readonly<Record<string, string>>) => String(new URLSearchParams(values))

const ofPeriod: ReadonlyArray<Table> = [
  {
    title: "Invoices",
    about: "Issued in the period",
    path: ({ from, to }) => `/invoices?${search({ issuedFrom: from, issuedTo: to })}`
  },
  { title: "Taxes", about: "Base and tax by rate", path: (period) => `/reports/tax?${search({ ...period })}` },
  {
    title: "Revenue",
    about: "Net amounts by month",
    path: (period) => `/reports/revenue?${search({ ...period, by: "month" })}`
  },
  {
    title: "Revenue by client",
    about: "Net amounts by client",
    path: (period) => `/reports/revenue/clients?${search({ ...period })}`
  }
]

const ofToday: ReadonlyArray<Table> = [
  { title: "Open amounts", about: "What clients owe, by age", path: () => "/reports/aging" },
  { title: "Payments", about: "All payments", path: () => "/payments" },
  { title: "Credit notes", about: "All credit notes", path: () => "/credit-notes" },
  { title: "Clients", about: "All clients", path: () => "/clients" }
]

interface DownloadProps {
  readonly title: string
  readonly about: string
  readonly label: string
  readonly load: () => Promise<void>
}

const Download = ({ about, label, load, title }: DownloadProps) => {
  const [isLoading, setLoading] = useState(false)
  const start = async () => {
    if (isLoading) return
    setLoading(true)
    try {
      await load()
    } finally {
      setLoading(false)
    }
  }
  return (
    <div class="row still">
      <span class="row-main">
        <strong>{title}</strong>
        <span class="muted">{about}</span>
      </span>
      <button
        type="button"
        aria-disabled={isLoading}
        aria-label={`Download ${title} as ${label}`}
        onClick={() => attempt(start())}
      >
        {isLoading ? "Loading…" : label}
      </button>
    </div>
  )
}

const downloadTable = async ({ path, title }: Table, period: Period) =>
  saveFile(await readFile(`/api/v1${path(period)}`, "text/csv"), `${title}.csv`)

const Tables = ({ period, tables }: { readonly tables: ReadonlyArray<Table>; readonly period: Period }) => (
  <ul class="rows">
    {tables.map((table) => (
      <li key={table.title}>
        <Download title={table.title} about={table.about} label="CSV" load={() => downloadTable(table, period)} />
      </li>
    ))}
  </ul>
)

const downloadArchive = async () =>
  saveFile(await readFile(`/api/v1/tenants/${tenantId.value}/export`), `${tenant.value?.name ?? "Export"}.zip`)

/** The year so far, unless the address has another period. */
const periodOf = ({ from, to }: Readonly<Record<string, string>>): Period => ({
  from: from ?? `${new Date().getFullYear()}-01-01`,
  to: to ?? new Date().toISOString().slice(0, 10)
})

/** Lists and reports for a spreadsheet, and everything as one archive. */
export const Export = () => {
  const period = periodOf(useFilters().filters)
  return (
    <div class="columns halves">
      <Section title="Period">
        <search class="filters">
          <DayFilter label="from" name="from" value={period.from} />
          <DayFilter label="to" name="to" value={period.to} />
        </search>
        <Tables tables={ofPeriod} period={period} />
      </Section>
      <div>
        <Section title="Today">
          <Tables tables={ofToday} period={period} />
        </Section>
        {hasRole("OWNER") && (
          <Section title="Everything">
            <Download
              title="Archive"
              about="All data, PDFs and images, to keep for years"
              label="ZIP"
              load={downloadArchive}
            />
          </Section>
        )}
      </div>
    </div>
  )
}
