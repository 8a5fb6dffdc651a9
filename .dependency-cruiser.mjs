/**
 * The areas of the business, with the areas that each may build on in src/layers. An area has the same name in src/domain,
 * src/layers, src/http and test.
 */
export const areas = {
  branding: ["quotas"],
  clientPage: ["invoicing"],
  contracting: ["taxes"],
  creditNotes: ["invoicing", "journal", "settlement"],
  delivery: ["integrations", "invoicing"],
  eInvoice: [],
  erasure: ["integrations", "trackers"],
  events: [],
  export: [
    ...["branding", "clientPage", "contracting", "creditNotes", "delivery", "events", "integrations", "invoicing"],
    ...["journal", "payments", "taxes", "tenancy", "trackers"]
  ],
  integrations: ["events", "quotas", "tenancy"],
  invoicing: ["branding", "contracting", "journal", "quotas", "taxes"],
  journal: [],
  locale: [],
  mails: ["clientPage", "creditNotes", "delivery", "invoicing", "quotas"],
  money: [],
  payments: ["contracting", "creditNotes", "invoicing", "journal", "settlement"],
  quotas: [],
  reports: ["contracting", "invoicing"],
  settlement: ["invoicing", "journal"],
  taxes: ["quotas"],
  tenancy: ["quotas", "taxes"],
  trackers: ["integrations", "invoicing"]
}

const areaRooms = Object.entries(areas).map(([area, others]) => [
  `layers/${area}`,
  ["domain", "layers/infra", ...others.map((other) => `layers/${other}`)]
])

/** The areas that may use a technology of src/layers/infra. Those that are not here are for all. */
const users = {
  auth: ["integrations", "tenancy"],
  blobs: ["branding", "erasure"],
  googleDrive: ["delivery"],
  jira: ["integrations", "trackers"],
  keys: [],
  nats: ["delivery", "trackers"],
  oauth: ["integrations"],
  pdf: ["creditNotes", "invoicing", "reports"],
  providerHttp: ["delivery", "integrations", "trackers"],
  smtp: ["integrations", "mails"],
  webhook: ["integrations"]
}

/** The declaration of an area's operations knows no handler and loads no layer. */
const isDeclaration = "^src/http/[^/]+/[^/]+Api\\.ts$"

/** Which room of src may import which. A room imports itself and what stands beside its name; everything else is refused. */
const rooms = {
  domain: [],
  "layers/infra": ["domain"],
  ...Object.fromEntries(areaRooms),
  workers: ["domain", "layers"],
  http: ["domain", "layers"],
  "http/server": ["domain", "layers", "http/api"]
}

/** The modules of the domain that run in a browser: the console computes with them. They import only each other. */
const browserModules = [
  "creditNotes/CreditTotals",
  "events/EventActions",
  "invoicing/draft/DraftTotals",
  "invoicing/draft/PastedLines",
  "invoicing/draft/TaxSets",
  "money/AmountFormat",
  "money/AmountParser",
  "money/CreditArithmetic",
  "money/CurrencyDecimals",
  "money/Decimal",
  "money/IbanFormat",
  "money/InvoiceArithmetic",
  "money/Money"
].map((name) => `^src/domain/${name}\\.ts$`)

const pathOf = (room) => `^src/${room}/`

const roomRules = Object.entries(rooms).map(([room, allowed]) => ({
  name: room.replaceAll("/", "-"),
  comment: `src/${room} may import ${["itself", ...allowed].join(", ")}.`,
  severity: "error",
  from: { path: pathOf(room) },
  to: { path: "^src/", pathNot: [room, ...allowed].map(pathOf) }
}))

const userRules = Object.entries(users).map(([technology, allowed]) => ({
  name: `users-of-${technology}`,
  comment: `Of the areas, only ${allowed.join(", ") || "none"} may use src/layers/infra/${technology}.`,
  severity: "error",
  from: { path: "^src/layers/", pathNot: ["infra", ...allowed].map((name) => pathOf(`layers/${name}`)) },
  to: { path: pathOf(`layers/infra/${technology}`) }
}))

export default {
  forbidden: [
    ...roomRules,
    ...userRules,
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "every-folder-is-an-area",
      comment: "Add the new area to the table above, or name the folder as the area is named.",
      severity: "error",
      from: {
        path: "^src/(domain|layers|http)/[^/]+/",
        pathNot: [
          `^src/(domain|layers|http)/(${Object.keys(areas).join("|")})/`,
          "^src/layers/infra/",
          "^src/http/(api|server)/"
        ]
      },
      to: {}
    },
    {
      name: "declarations-load-no-layer",
      severity: "error",
      from: { path: ["^src/http/api/", isDeclaration] },
      to: { path: "^src/", pathNot: ["^src/domain/", "^src/http/api/", isDeclaration] }
    },
    {
      name: "infra-writes-no-sql",
      comment: "A technology knows no table. What reads the tables of an area belongs to the area.",
      severity: "error",
      from: { path: "^src/layers/infra/", pathNot: "^src/layers/infra/(blobs|keys|postgres)/" },
      to: { path: ["node_modules/@effect/sql", "^src/layers/infra/postgres/"] }
    },
    {
      name: "no-circles-between-technologies",
      severity: "error",
      scope: "folder",
      from: { path: "^src/layers/infra" },
      to: { circular: true }
    },
    {
      name: "console-runs-in-a-browser",
      comment: "src/console may import itself and the modules of the domain that run in a browser.",
      severity: "error",
      from: { path: "^src/console/" },
      to: { path: "^src/", pathNot: ["^src/console/", ...browserModules] }
    },
    {
      name: "browser-modules-import-each-other",
      severity: "error",
      from: { path: browserModules },
      to: { pathNot: browserModules }
    },
    {
      name: "nothing-imports-the-console",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/console/" },
      to: { path: "^src/console/" }
    },
    {
      name: "the-service-imports-no-tool",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(bench|test|tools)/" }
    },
    {
      name: "main-is-the-command-line",
      severity: "error",
      from: {},
      to: { path: "^src/main\\.ts$" }
    }
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".tsx"] }
  }
}
