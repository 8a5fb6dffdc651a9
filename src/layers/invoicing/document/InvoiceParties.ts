import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { Address } from "../../../domain/contracting/Address.ts"
import { NotFound } from "../../../domain/Errors.ts"
import type { Parties as ContractParties } from "../../../domain/invoicing/document/Parties.ts"
import { defaultLanguage, type Language } from "../../../domain/locale/Language.ts"
import type { BankAccount } from "../../../domain/money/BankAccount.ts"
import type { BillingContact } from "../../../domain/tenancy/BillingContact.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { makeEntityMapper, type Row, selectList, type TableShape } from "../../infra/postgres/repository/Columns.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"

const address: TableShape = { table: "addresses", fields: Address.fields, relations: ["client"] }

const sides = {
  tenant: { row: "ours", owner: "is null" },
  client: { row: "theirs", owner: "= contract.client_id" }
} as const

const columnsOf = (side: keyof typeof sides) => selectList(address, sides[side].row, `${side}.`)

/** Joins the first address in the owner's order. */
const joinOf = (side: keyof typeof sides) => {
  const { owner, row } = sides[side]
  return `left join lateral (
    select * from addresses where tenant_id = contract.tenant_id and client_id ${owner}
    order by coalesce("order", 9223372036854775807), id limit 1
  ) ${row} on true`
}

const makeAddressReader = (side: keyof typeof sides) => {
  const read = makeEntityMapper(address, `${side}.`)
  // The cast is safe: the columns have the names of the schema's fields, and the table checks the values.
  return (row: Row) => (row[`${side}.id`] === null ? {} : { address: read(row) as unknown as typeof Address.Type })
}
const readTenantAddress = makeAddressReader("tenant")
const readClientAddress = makeAddressReader("client")

type PartiesRow = Row & {
  readonly tenantName: string
  readonly timeZone: string
  readonly bankAccount: BankAccount | null
  readonly billingContact: BillingContact | null
  readonly clientName: string
  readonly language: Language | null
  readonly contractName: string
}

const toParties = (row: PartiesRow): ContractParties => ({
  tenant: {
    name: row.tenantName,
    ...readTenantAddress(row),
    timeZone: row.timeZone,
    ...(row.bankAccount === null ? {} : { bankAccount: row.bankAccount }),
    ...(row.billingContact === null ? {} : { billingContact: row.billingContact })
  },
  client: { name: row.clientName, ...readClientAddress(row), language: row.language ?? defaultLanguage },
  contract: { name: row.contractName }
})

/** Reads the current parties of a contract: the tenant and the client, each with its first address. */
export class InvoiceParties extends Effect.Service<InvoiceParties>()("layers/InvoiceParties", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    /** Reads the parties of the row that `contract` selects. */
    const load = (contract: Fragment) => sql<PartiesRow>`
      select tenants.name as "tenantName", tenants.time_zone as "timeZone", tenants.bank_account as "bankAccount",
        tenants.billing_contact as "billingContact", clients.name as "clientName", clients.language,
        contract.name as "contractName",
        ${sql.literal(`${columnsOf("tenant")}, ${columnsOf("client")}`)}
      from (${contract}) contract
      join tenants on tenants.id = contract.tenant_id
      join clients on clients.tenant_id = contract.tenant_id and clients.id = contract.client_id
      ${sql.literal(`${joinOf("tenant")} ${joinOf("client")}`)}`

    return {
      loadByContract: (contract: string): Effect.Effect<ContractParties, never, CurrentTenant> =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(load(sql`select * from contracts where tenant_id = ${tenant} and id = ${contract}`))
        ).pipe(
          Effect.flatMap(([row]) =>
            row === undefined
              ? Effect.dieMessage("The contract of the invoice does not exist")
              : Effect.succeed(toParties(row))
          )
        ),

      /** The tenant and a client, for a document that belongs to no contract. */
      loadByClient: Effect.fnUntraced(function* (client: string) {
        const tenant = yield* CurrentTenant
        const [row] = yield* Effect.orDie(
          load(
            sql`select tenant_id, id as client_id, '' as name from clients where tenant_id = ${tenant} and id = ${client}`
          )
        )
        if (row === undefined) return yield* Effect.fail(new NotFound())
        const { client: recipient, tenant: issuer } = toParties(row)
        return { tenant: issuer, client: recipient }
      })
    }
  }).pipe(withSpans("InvoiceParties"))
}) {}
