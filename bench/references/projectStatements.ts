/** The service's own statements, named so that each connection prepares them once. */
const projectColumns = `
  this."id" as "id", this."contract_id" as "contract", this."name" as "name", this."description" as "description",
  this."order" as "order", this."created_at" as "createdAt", this."updated_at" as "updatedAt"`

const contractColumns = `
  contract."id" as "contract.id", contract."client_id" as "contract.client", contract."name" as "contract.name",
  contract."description" as "contract.description", contract."status" as "contract.status",
  contract."currency_code" as "contract.currencyCode", contract."starts_at" as "contract.startsAt",
  contract."ends_at" as "contract.endsAt", contract."payment_term_days" as "contract.paymentTermDays",
  contract."cap_minor" as "contract.capMinor", contract."order" as "contract.order",
  contract."created_at" as "contract.createdAt", contract."updated_at" as "contract.updatedAt"`

const clientColumns = `
  client."id" as "contract.client.id", client."name" as "contract.client.name",
  client."description" as "contract.client.description", client."order" as "contract.client.order",
  client."media" as "contract.client.media", client."created_at" as "contract.client.createdAt",
  client."updated_at" as "contract.client.updatedAt"`

const contractJoin = "join contracts contract on contract.tenant_id = this.tenant_id and contract.id = this.contract_id"
const clientJoin = "join clients client on client.tenant_id = this.tenant_id and client.id = contract.client_id"

const makeCallerStatement = (name: string, columns: ReadonlyArray<string>, joins: string) => ({
  name,
  text: `
    select ${columns.join(", ")} from projects this
    join tenants t on t.id = this.tenant_id and t.deleted_at is null
    join members m on m.tenant_id = this.tenant_id and m.issuer = $1 and m.subject = $2
    ${joins} where this.id = $3`
})

/** Reads a project of any tenant of the caller, with the relations that the key names. */
export const readProjectStatements = {
  alone: makeCallerStatement("projects.get", [projectColumns], ""),
  contract: makeCallerStatement("projects.get.contract", [projectColumns, contractColumns], contractJoin),
  client: makeCallerStatement(
    "projects.get.client",
    [projectColumns, contractColumns, clientColumns],
    `${contractJoin} ${clientJoin}`
  )
}

const readProjectText = `
  select ${projectColumns}, this.sequence from projects this where this.tenant_id = $1 and this.id = $2`

export const readProjectStatement = { name: "projects.read", text: readProjectText }
export const lockProjectStatement = { name: "projects.lock", text: `${readProjectText} for update of this` }

/** Updates the row only if its sequence is unchanged, and inserts the event in the same statement. */
export const updateProjectStatement = {
  name: "projects.change",
  text: `
    with changed as (
      update projects this set "id" = $1, "contract_id" = $2, "name" = $3, "description" = $4, "order" = $5,
        "created_at" = $6, "updated_at" = $7, "sequence" = $8
      where this.tenant_id = $9 and this.id = $10 and this.sequence = $11
      returning 1
    ), event as (
      insert into events (tenant_id, id, type, resource_id, client_id, sequence, occurred_at, created_by,
        trace_parent, data)
      select $12, $13, $14, $15, (select client_id from contracts where tenant_id = $16 and id = $17), $18::integer,
        $19::timestamptz, $20::text, $21::text, $22::json
      from changed
    )
    select 1 from changed`
}

export const listProjectsStatement = {
  name: "projects.page",
  text: `
    select ${projectColumns} from projects this where this.tenant_id = $1
    order by coalesce(this."order", 9223372036854775807), this.id limit $2`
}
