type Row = Readonly<Record<string, unknown>>

/** A column of sealed bytes. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The columns of the primary key, and the names of their values. */
  readonly key: Readonly<Record<string, string>>
  /** Further columns that the seal is bound to. */
  readonly others?: Readonly<Record<string, string>>
  readonly associatedDataOf: (row: Row) => string
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

interface OfIntegration {
  readonly tenant: string
  readonly integration: string
}

interface OfHash extends OfIntegration {
  readonly hash: Uint8Array
}

interface OfLink {
  readonly tenant: string
  readonly invoice: string
  readonly hash: Uint8Array
}

interface OfRequest {
  readonly tenant: string
  readonly issuer: string
  readonly subject: string
  readonly route: string
  readonly key: string
}

interface OfGeneration extends OfIntegration {
  readonly generation: number
}

/** What the seal of each secret is bound to. Stored secrets depend on it, so it must not change. */
export const associatedData = {
  idempotencyAnswer: ({ issuer, key, route, subject, tenant }: OfRequest) =>
    JSON.stringify(["idempotency_keys", tenant, issuer, subject, route, key]),
  signingSecret: ({ generation, integration, tenant }: OfGeneration) =>
    JSON.stringify(["integration_secrets", tenant, integration, generation]),
  accessToken: ({ generation, integration, tenant }: OfGeneration) =>
    JSON.stringify(["grants", tenant, integration, "access", generation]),
  refreshToken: ({ generation, integration, tenant }: OfGeneration) =>
    JSON.stringify(["grants", tenant, integration, "refresh", generation]),
  verifier: ({ hash, integration, tenant }: OfHash) =>
    JSON.stringify(["oauth_states", tenant, integration, hex(hash), "verifier"]),
  pendingGrant: ({ hash, integration, tenant }: OfHash) =>
    JSON.stringify(["pending_grants", tenant, integration, hex(hash), "sealed"]),
  webhookKey: ({ hash, integration, tenant }: OfHash) =>
    JSON.stringify(["webhook_endpoints", tenant, integration, hex(hash)]),
  invoiceLink: ({ hash, invoice, tenant }: OfLink) => JSON.stringify(["invoice_links", tenant, invoice, hex(hash)])
}

const tenant = { tenant: "tenant_id" }
const integration = { ...tenant, integration: "integration_id" }
const generation = { generation: "generation" }

/** The names of the values fit the parameter of the function, whose type a table of all columns cannot keep. */
const sealed = <A>(column: Omit<SealedColumn, "associatedDataOf">, associatedDataOf: (row: A) => string) => ({
  ...column,
  associatedDataOf: (row: Row) => associatedDataOf(row as A)
})

/** Every column of sealed bytes, for a change of the key. A test compares it with the database. */
export const sealedColumns: ReadonlyArray<SealedColumn> = [
  sealed(
    {
      table: "idempotency_keys",
      column: "answer",
      key: { ...tenant, issuer: "issuer", subject: "subject", route: "route", key: "key" }
    },
    associatedData.idempotencyAnswer
  ),
  sealed(
    { table: "integration_secrets", column: "sealed", key: { ...integration, ...generation } },
    associatedData.signingSecret
  ),
  sealed({ table: "grants", column: "access", key: integration, others: generation }, associatedData.accessToken),
  sealed({ table: "grants", column: "refresh", key: integration, others: generation }, associatedData.refreshToken),
  sealed(
    {
      table: "oauth_states",
      column: "verifier",
      key: { ...tenant, hash: "hash" },
      others: { integration: "integration_id" }
    },
    associatedData.verifier
  ),
  sealed(
    {
      table: "pending_grants",
      column: "sealed",
      key: { ...tenant, hash: "hash" },
      others: { integration: "integration_id" }
    },
    associatedData.pendingGrant
  ),
  sealed(
    { table: "webhook_endpoints", column: "sealed", key: { ...integration, hash: "key_hash" } },
    associatedData.webhookKey
  ),
  sealed(
    {
      table: "invoice_links",
      column: "sealed",
      key: { ...tenant, invoice: "invoice_id" },
      others: { hash: "token_hash" }
    },
    associatedData.invoiceLink
  )
]
