import type { Pools } from "../pools.ts"
import { id, name, series, sizesOf, spread, tenant, text } from "./sql.ts"

/** Half of everything belongs to the large client. */
const clientOf = (n: string) => `case when n % 2 = 0 then ${id("clnt_large", 0)} else ${id("clnt_client", n)} end`

const insertClients = (label: string, size: number) => `
  insert into clients (tenant_id, id, name, description, "order", created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, ${name}, repeat('${text}', 1 + n % 10), case when n % 4 = 0 then n end,
    ${spread(size)}, now(), 1
  from ${series(size)}`

const insertContracts = (label: string, size: number, client: string) => `
  insert into contracts (tenant_id, id, client_id, name, description, status, currency_code, payment_term_days,
    created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, ${client}, ${name}, '${text}', 'ACTIVE', 'CHF', 30, ${spread(size)}, now(), 1
  from ${series(size)}`

/** With what an e-invoice needs of both parties. */
const insertAddresses = (label: string, size: number, client: string) => `
  insert into addresses (tenant_id, id, client_id, name, address1, country, country_code, city, zip, vat_number,
    created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, ${client}, ${name}, 'Hafenstrasse 12', 'Switzerland', 'CH', 'Basel', '4057',
    'CHE-123.456.789 MWST', now(), now(), 1
  from ${series(size)}`

const insertContacts = (label: string, size: number) => `
  insert into contacts (tenant_id, id, client_id, name, created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, ${clientOf("n % 5000")}, ${name}, now(), now(), 1 from ${series(size)}`

/** Of three rates in turn, which a line can have, one has a VAT category. */
const insertTaxRates = (label: string, size: number) => `
  insert into tax_rates (tenant_id, id, name, percent, category, created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, 'Tax ' || n, 8.1, case when n % 3 = 0 then 'S' end, now(), now(), 1
  from ${series(size)}`

/** Clients with what belongs to them. */
export const makeClientStatements = (pools: Pools) => {
  const sizeOf = sizesOf(pools)
  return [
    insertClients("clnt_large", 1),
    insertClients("clnt_client", sizeOf("client")),
    insertClients("clnt_spare", sizeOf("spareClient")),
    insertAddresses("adr_address", sizeOf("address"), clientOf("n")),
    insertAddresses("adr_own", 1, "null"),
    insertContacts("con_contact", sizeOf("contact")),
    insertContacts("con_spare", sizeOf("spareContact")),
    `insert into emails (tenant_id, id, contact_id, address, created_at, updated_at, sequence)
     select ${tenant}, ${id("eml_email")}, ${id("con_contact", `n % ${sizeOf("contact")}`)}, 'n' || n || '@example.com', now(), now(), 1
     from ${series(sizeOf("email"))}`,
    insertContracts("ctr_large", 1, id("clnt_large")),
    insertContracts("ctr_contract", sizeOf("contract"), clientOf("n")),
    insertContracts("ctr_spare", sizeOf("spareContract"), id("clnt_client")),
    `insert into projects (tenant_id, id, contract_id, name, description, created_at, updated_at, sequence)
     select ${tenant}, ${id("prj_project")}, ${id("ctr_contract", "n % 1000")}, ${name}, '${text}', now(), now(), 1
     from ${series(sizeOf("project"))}`
  ]
}

/** Members, tax rates and images of the tenant, and other tenants of its owner. */
export const makeTenantStatements = (pools: Pools) => {
  const sizeOf = sizesOf(pools)
  const spareTenants = series(sizeOf("spareTenant"))
  const owner = `members owner where tenant_id = ${tenant} and role = 'OWNER'`
  return [
    `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
     select ${tenant}, ${id("mem_member")}, issuer, 'member ' || n, 'MEMBER', now(), now(), 1
     from ${series(sizeOf("member"))}, ${owner}`,
    `insert into tenants (id, name, created_at, updated_at, sequence)
     select ${id("tnt_spare")}, 'Spare ' || n, now(), now(), 1 from ${spareTenants}`,
    `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
     select ${id("tnt_spare")}, ${id("mem_spare")}, issuer, subject, 'OWNER', now(), now(), 1
     from ${spareTenants}, ${owner}`,
    insertTaxRates("tax_rate", sizeOf("taxRate")),
    insertTaxRates("tax_spare", sizeOf("spareTaxRate")),
    `insert into assets (tenant_id, id, kind, access, source, status, content_type, created_at, updated_at, sequence)
     select ${tenant}, ${id("ast_pending")}, 'BRANDING_LOGO', 'PUBLIC', 'USER_UPLOAD', 'PENDING', 'image/png', now(), now(), 1
     from ${series(sizeOf("pendingAsset"))}`
  ]
}
