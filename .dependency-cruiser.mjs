/**
 * Which room of src may import which. A room imports itself and what stands beside its name; everything else is refused.
 * The rooms of src/layers are leaves (they know no repository) or areas (repository and use-case of one area).
 */
const leaf = ["domain", "layers/concurrency", "layers/config", "layers/secrets"]
const area = [...leaf, "layers/postgres", "layers/quotas", "layers/telemetry"]

const rooms = {
  domain: [],

  "layers/config": ["domain"],
  "layers/concurrency": ["domain"],
  "layers/secrets": ["layers/config"],
  "layers/telemetry": ["domain", "layers/config"],
  "layers/local": ["layers/nats"],
  "layers/postgres": [...leaf, "layers/telemetry"],
  "layers/auth": leaf,
  "layers/blobs": [...leaf, "layers/postgres"],
  "layers/nats": [...leaf, "layers/telemetry"],
  "layers/webhook": leaf,
  "layers/pdf": leaf,
  "layers/smtp": [...leaf, "layers/webhook"],
  "layers/providerHttp": [...leaf, "layers/webhook"],
  "layers/oauth": [...leaf, "layers/providerHttp"],
  "layers/jira": [...leaf, "layers/oauth", "layers/providerHttp"],
  "layers/googleDrive": [...leaf, "layers/oauth", "layers/providerHttp"],

  "layers/keys": [...leaf, "layers/postgres"],
  "layers/quotas": leaf,
  "layers/events": area,
  "layers/journal": area,
  "layers/taxes": area,
  "layers/contracting": [...area, "layers/taxes"],
  "layers/branding": [...area, "layers/blobs"],
  "layers/invoicing": [
    ...area,
    "layers/branding",
    "layers/contracting",
    "layers/journal",
    "layers/pdf",
    "layers/taxes"
  ],
  "layers/payments": [...area, "layers/contracting", "layers/invoicing", "layers/journal", "layers/pdf"],
  "layers/clientPage": [...area, "layers/invoicing"],
  "layers/reports": [...area, "layers/contracting", "layers/invoicing", "layers/pdf"],
  "layers/integrations": [
    ...area,
    "layers/auth",
    "layers/events",
    "layers/jira",
    "layers/oauth",
    "layers/providerHttp",
    "layers/smtp",
    "layers/webhook"
  ],
  "layers/delivery": [
    ...area,
    "layers/googleDrive",
    "layers/integrations",
    "layers/invoicing",
    "layers/nats",
    "layers/providerHttp"
  ],
  "layers/mail": [
    ...area,
    "layers/clientPage",
    "layers/delivery",
    "layers/invoicing",
    "layers/payments",
    "layers/smtp"
  ],
  "layers/tracker": [...area, "layers/integrations", "layers/invoicing", "layers/nats"],
  "layers/tenancy": [...area, "layers/auth", "layers/blobs", "layers/integrations", "layers/taxes"],

  "layers/export": [
    ...area,
    "layers/branding",
    "layers/clientPage",
    "layers/contracting",
    "layers/delivery",
    "layers/events",
    "layers/integrations",
    "layers/invoicing",
    "layers/journal",
    "layers/payments",
    "layers/taxes",
    "layers/tenancy",
    "layers/tracker"
  ],

  workers: ["domain", "layers"],
  "http/api": ["domain"],
  "http/server": ["domain", "layers", "http/api"],
  "http/handlers": ["domain", "layers", "http/api", "http/server"]
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

export default {
  forbidden: [
    ...roomRules,
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "every-room-has-a-rule",
      comment: "Add the new folder of src/layers or src/http to the table above.",
      severity: "error",
      from: { path: "^src/(layers|http)/[^/]+/", pathNot: Object.keys(rooms).map(pathOf) },
      to: {}
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
