import type { Schemas } from "../../api/client.ts"

export type IntegrationValue = Schemas["Integration"]
export type Provider = IntegrationValue["provider"]
type ConfigName = Exclude<keyof IntegrationValue["config"], "texts">

interface ConfigField {
  readonly name: ConfigName
  readonly label: string
  readonly hint?: string
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly options?: ReadonlyArray<readonly [value: string, label: string]>
}

interface ProviderTexts {
  readonly label: string
  readonly about: string
  readonly fields: ReadonlyArray<ConfigField>
}

/** What the console says about each kind of integration, and the settings that its form asks for. */
export const providers: Readonly<Record<Provider, ProviderTexts>> = {
  WEBHOOK: {
    label: "Webhook",
    about: "Sends events to a URL of yours, signed.",
    fields: [{ name: "url", label: "URL", hint: "With https, on a public host.", isRequired: true }]
  },
  NATS: { label: "NATS", about: "Puts events into a stream that you read.", fields: [] },
  JIRA: {
    label: "Jira",
    about: "Brings issues that you can bill.",
    fields: [
      { name: "siteId", label: "Site", hint: "Empty: the site that the authorization finds." },
      { name: "jql", label: "JQL filter", placeholder: "project = NORTH", hint: "Empty: every issue." }
    ]
  },
  GOOGLE_DRIVE: {
    label: "Google Drive",
    about: "Saves finalized invoices as files in a folder.",
    fields: [{ name: "folderId", label: "Folder", hint: "The last part of its address.", isRequired: true }]
  },
  EMAIL: {
    label: "E-mail",
    about: "Sends invoices and credit notes by mail.",
    fields: [
      { name: "host", label: "Mail server", hint: "Empty, with all others: the mail server of the operator." },
      { name: "port", label: "Port", placeholder: "587" },
      {
        name: "security",
        label: "Security",
        options: [
          ["", "—"],
          ["STARTTLS", "STARTTLS"],
          ["TLS", "TLS"]
        ]
      },
      { name: "user", label: "User" },
      { name: "from", label: "From" },
      { name: "replyTo", label: "Reply to" }
    ]
  }
}

export const isProvider = (text: string | undefined): text is Provider => text !== undefined && text in providers

/** Whether people authorize it at its provider. */
export const needsAuthorization = (provider: Provider) => provider === "JIRA" || provider === "GOOGLE_DRIVE"

export const isTracker = (provider: Provider) => provider === "JIRA"

/** Whether it has a secret or an address that can be replaced. */
export const hasSecret = (provider: Provider) => provider === "WEBHOOK" || isTracker(provider)

export const canPing = (provider: Provider) => provider === "WEBHOOK" || provider === "NATS"

/** Where it sends to, or gets its data from. */
export const targetOf = ({ config }: IntegrationValue) =>
  config.url ?? config.siteId ?? config.folderId ?? config.from ?? config.host
