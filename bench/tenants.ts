import { makeIdSuffix } from "../src/layers/infra/postgres/IdGenerator.ts"
import { benchCaller, callers } from "./tokenIssuer.ts"

const makeBenchId = (prefix: string) => `${prefix}_${makeIdSuffix(Date.now())}`

interface TenantContents {
  /** The subject of its member. */
  readonly caller?: string
  readonly role: string | undefined
  readonly clients: number
  readonly projects?: number
  readonly invoices?: number
  readonly status?: "DRAFT" | "FINALIZED"
  readonly lines?: number
  /** Whether every invoice has a draft of a credit note. */
  readonly hasCreditNotes?: boolean
  /** Percentages of the tax rates that the lines have in turn. */
  readonly taxPercents?: ReadonlyArray<number>
}

const makeSeedTenant = ({
  caller = benchCaller.subject,
  clients,
  hasCreditNotes = false,
  invoices = 0,
  lines = 0,
  projects = 0,
  role,
  status = "DRAFT",
  taxPercents = []
}: TenantContents) => ({
  id: makeBenchId("tnt"),
  caller,
  role,
  clients: Array.from({ length: clients }, () => makeBenchId("clnt")),
  projects: Array.from({ length: projects }, () => makeBenchId("prj")),
  invoices: Array.from({ length: invoices }, () => makeBenchId("inv")),
  creditNotes: Array.from({ length: hasCreditNotes ? invoices : 0 }, () => makeBenchId("crn")),
  /** The status of every invoice, and its number of lines. */
  status,
  lines,
  taxRates: taxPercents.map((percent) => ({ id: makeBenchId("tax"), name: `VAT ${percent} %`, percent }))
})

export type SeedTenant = ReturnType<typeof makeSeedTenant>

const taxPercents = [8.1, 2.6, 3.8]

/** The seeded tenants, with the role of the bench's caller in each. */
export const tenants = {
  with20Clients: makeSeedTenant({ role: "MEMBER", clients: 20 }),
  with1000Clients: makeSeedTenant({ role: "MEMBER", clients: 1000 }),
  forNewClients: makeSeedTenant({ role: "MEMBER", clients: 0 }),
  withProjects: makeSeedTenant({ role: "MEMBER", clients: 20, projects: 512 }),
  // Enough invoices that none gets long while lines are added.
  withDrafts: makeSeedTenant({ role: "MEMBER", clients: 20, invoices: 4096, lines: 1 }),
  withLongDrafts: makeSeedTenant({ role: "MEMBER", clients: 20, invoices: 64, lines: 10_000 }),
  withTaxedDrafts: makeSeedTenant({ role: "MEMBER", clients: 20, invoices: 4096, lines: 3, taxPercents }),
  withTaxedLongDrafts: makeSeedTenant({ role: "MEMBER", clients: 20, invoices: 64, lines: 10_000, taxPercents }),
  // Enough for several starts of two builds, each with requests of its own.
  withFinalized: makeSeedTenant({ role: "ADMIN", clients: 20, invoices: 3 * 20 * 1024, status: "FINALIZED", lines: 3 }),
  toFinalize: makeSeedTenant({ role: "ADMIN", clients: 20, invoices: 3 * 20 * 1024, lines: 3 }),
  // A payment and a credit note lock their client, so that there are as many clients as contracts.
  toPay: makeSeedTenant({ role: "ADMIN", clients: 1024, invoices: 3 * 20 * 1024, status: "FINALIZED", lines: 1 }),
  toCredit: makeSeedTenant({
    role: "ADMIN",
    clients: 1024,
    invoices: 3 * 20 * 1024,
    status: "FINALIZED",
    lines: 3,
    hasCreditNotes: true
  }),
  foreign: makeSeedTenant({ role: undefined, clients: 1, projects: 1, invoices: 1, lines: 1 })
}

/** A tenant of each of many callers, together as large as those of one caller. */
export const manyTenants = {
  withData: callers.map((caller) =>
    makeSeedTenant({ caller, role: "MEMBER", clients: 20, projects: 8, invoices: 64, lines: 1 })
  ),
  forNewClients: callers.map((caller) => makeSeedTenant({ caller, role: "MEMBER", clients: 0 }))
}
