import type { CreateAddress, CreateBillables, CreateContract, Invoice } from "../../dist/client/index.js"

/** The tenant of the demo, by whose name a later run finds it. */
export const tenant = {
  name: "Harbour Works (demo)",
  description: "Repairs and automates pumps, cranes and locks of harbours"
}

export const members = [
  { subject: "bob", role: "MEMBER" },
  { subject: "carla", role: "VIEWER" }
] as const

type Address = Omit<CreateAddress, "clientId">

export const ownAddress: Address = {
  name: "Harbour Works B.V.",
  address1: "Waalhaven Zuidzijde 19",
  city: "Rotterdam",
  zip: "3088 HH",
  country: "Netherlands",
  registrationNumber: "24401187",
  vatNumber: "NL001234567B01"
}

export interface DemoInvoice {
  /** Names the invoice for later runs: its first line refers to this time sheet. */
  readonly timesheet: string
  readonly status: Invoice["status"]
  /** Whether a void invoice was finalized before, and so has a number. */
  readonly isNumbered?: boolean
  readonly lines: CreateBillables["billables"]
  /** What of a finalized invoice has been paid. */
  readonly paidMinor?: number
  /** Units of the last line that a credit note takes back. */
  readonly returned?: { readonly quantity: number; readonly reason: string }
}

export interface DemoContract {
  readonly terms: Omit<CreateContract, "clientId">
  readonly projects: ReadonlyArray<string>
  readonly invoices: ReadonlyArray<DemoInvoice>
}

export interface DemoClient {
  readonly name: string
  readonly description: string
  readonly addresses: ReadonlyArray<Address>
  readonly contacts: ReadonlyArray<{ readonly name: string; readonly role: string; readonly email: string }>
  readonly contracts: ReadonlyArray<DemoContract>
}

const brennecke: DemoClient = {
  name: "Brennecke Pumpen GmbH",
  description: "Pumps and valves for drinking water",
  addresses: [
    {
      name: "Brennecke Pumpen GmbH",
      address1: "Am Sandtorkai 41",
      city: "Hamburg",
      zip: "20457",
      country: "Germany",
      vatNumber: "DE811907980"
    },
    { name: "Brennecke Lager", address1: "Hafenstraße 8", city: "Bremerhaven", zip: "27568", country: "Germany" }
  ],
  contacts: [
    { name: "Jana Brennecke", role: "Managing director", email: "jana.brennecke@brennecke.example" },
    { name: "Tilo Sommer", role: "Accounts payable", email: "rechnung@brennecke.example" }
  ],
  contracts: [
    {
      terms: { name: "Maintenance", currencyCode: "EUR", status: "ACTIVE", paymentTermDays: 30, capMinor: 6_000_000 },
      projects: ["Pump house", "Remote monitoring"],
      invoices: [
        {
          timesheet: "BRN-01",
          status: "PAID",
          lines: [
            { name: "Inspection of pump 3", quantity: 6.5, amountMinor: 9500 },
            { name: "Valve, bronze, DN 50", quantity: 4, amountMinor: 1995 }
          ],
          returned: { quantity: 1, reason: "One valve returned" }
        },
        {
          timesheet: "BRN-02",
          status: "FINALIZED",
          lines: [
            { name: "Control unit, replaced", quantity: 1, amountMinor: 214_900 },
            { name: "Installation", quantity: 11.25, amountMinor: 9500 },
            { name: "Goodwill for the outage in March", quantity: 1, amountMinor: -25_000 }
          ],
          paidMinor: 150_000
        },
        { timesheet: "BRN-03", status: "DRAFT", lines: [{ name: "Standby duty", quantity: 9, amountMinor: 4200 }] }
      ]
    },
    {
      terms: { name: "Spare parts", currencyCode: "EUR", status: "DRAFT", paymentTermDays: 14 },
      projects: [],
      invoices: []
    }
  ]
}

const kestrel: DemoClient = {
  name: "Kestrel Cranes Inc.",
  description: "Container cranes on the east coast",
  addresses: [
    {
      name: "Kestrel Cranes Inc.",
      address1: "1400 Marine Terminal Rd",
      city: "Savannah",
      region: "Georgia",
      zip: "31401",
      country: "United States"
    }
  ],
  contacts: [{ name: "Denise Okafor", role: "Operations", email: "denise@kestrelcranes.example" }],
  contracts: [
    {
      // Due at once, so that a finalized invoice is overdue.
      terms: { name: "Crane automation", currencyCode: "USD", status: "ACTIVE", paymentTermDays: 0 },
      projects: ["Berth 4", "Berth 5", "Operator training"],
      invoices: [
        {
          timesheet: "KST-01",
          status: "PAID",
          lines: [{ name: "Anti-sway control, phase 1", quantity: 1, amountMinor: 1_250_000 }]
        },
        {
          timesheet: "KST-02",
          status: "FINALIZED",
          lines: [
            { name: "Anti-sway control, phase 2", quantity: 1, amountMinor: 980_000 },
            { name: "Travel", quantity: 3, amountMinor: 41_850 }
          ]
        },
        {
          timesheet: "KST-03",
          status: "VOID",
          isNumbered: true,
          lines: [{ name: "Operator training, billed to the wrong berth", quantity: 2, amountMinor: 160_000 }]
        }
      ]
    }
  ]
}

const minato: DemoClient = {
  name: "Minato Lock Works K.K.",
  description: "Locks and flood gates in Tokyo Bay",
  addresses: [
    {
      name: "Minato Lock Works K.K.",
      address1: "2-3-1 Kaigan",
      city: "Minato-ku, Tokyo",
      zip: "105-0022",
      country: "Japan"
    }
  ],
  contacts: [{ name: "Haruka Mori", role: "Procurement", email: "mori@minato-locks.example" }],
  contracts: [
    {
      terms: { name: "Gate sensors", currencyCode: "JPY", status: "ACTIVE", paymentTermDays: 60 },
      projects: ["Sensor pilot"],
      invoices: [
        {
          timesheet: "MNT-01",
          status: "PAID",
          lines: [{ name: "Water level sensor", quantity: 12, amountMinor: 48_000 }]
        },
        {
          timesheet: "MNT-02",
          status: "VOID",
          lines: [{ name: "Calibration, cancelled", quantity: 4, amountMinor: 15_000 }]
        },
        {
          timesheet: "MNT-03",
          status: "DRAFT",
          lines: [{ name: "Calibration", quantity: 3.5, amountMinor: 15_000 }]
        }
      ]
    }
  ]
}

export const clients = [brennecke, kestrel, minato]

/** Issues of a tracker, which a draft under the first contract bills. */
export const issues = [
  { id: "10001", key: "PUMP-101", title: "Pump 3 stops at low pressure", state: "Done" },
  { id: "10002", key: "PUMP-102", title: "Alarm text names the wrong valve", state: "Done" },
  { id: "10003", key: "PUMP-107", title: "Monitoring loses the night's data", state: "In Progress" }
]

export const billedIssues = { issueKeys: ["PUMP-101", "PUMP-102"], quantity: 2.5, amountMinor: 9500 }
