/** The service's own statements, named so that each connection prepares them once. */
export const membershipStatement = {
  name: "membership",
  text: `
    select m.id, m.role from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
    where m.tenant_id = $1 and m.issuer = $2 and m.subject = $3`
}

export interface Membership {
  readonly id: string
  readonly role: string
}

export const listClientsStatement = {
  name: "clients.list",
  text: `
    select this."id" as "id", this."name" as "name", this."description" as "description", this."order" as "order",
      this."media" as "media", this."created_at" as "createdAt", this."updated_at" as "updatedAt"
    from clients this where this.tenant_id = $1
    order by coalesce(this."order", 9223372036854775807), this.id`
}

export interface ClientRow {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly order: number | null
  readonly media: ReadonlyArray<unknown>
  readonly createdAt: string
  readonly updatedAt: string
}

/** Inserts the client and its event in one statement. */
export const createClientStatement = {
  name: "clients.create",
  text: `
    with changed as (
      insert into clients (tenant_id, id, name, description, "order", media, created_at, updated_at, sequence)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning 1
    )
    insert into events (tenant_id, id, type, resource_id, client_id, sequence, occurred_at, created_by,
      trace_parent, data)
    select $10, $11, $12, $13, $14, $15::integer, $16::timestamptz, $17::text, $18::text, $19::json from changed`
}
