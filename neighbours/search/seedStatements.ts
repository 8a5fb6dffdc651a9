import { hash } from "node:crypto"
import { endpointKey, largeIssuedCount, numberLength, type Pools } from "./pools.ts"

/** Settings of the session that runs these statements. */
export const seedSettings = ["tenant", "webhook", "parties"] as const

const setting = (name: (typeof seedSettings)[number]) => `current_setting('seed.${name}')`
const tenant = setting("tenant")
const webhook = setting("webhook")

const keyHash = hash("sha256", endpointKey, "hex")

/** Lines of invoices, as bench/creditNoteSeed.ts expects them. */
const line = { quantity: 1.5, amountMinor: 10_000, totalMinor: 15_000 }

const days = 3650
const text = "Framework agreement since 2019, paid on 30 days. Deliveries only before noon. "

/** An identifier of a pool by number. */
const id = (label: string, n = "n") => `'${label}' || lpad((${n})::text, ${numberLength}, '0')`
const series = (size: number, from = 0) => `generate_series(${from}, ${from + size - 1}) n`
const name = `(array['Nordwind', 'Ölmühle', 'Baker & Sons', 'Quarry Lane', 'Atelier 9'])[1 + n % 5] || ' ' || n`
const spread = (size: number) => `timestamptz '2016-01-01Z' + n * interval '${days} days' / ${size}`

const clientOf = (n: string) => `case when n % 2 = 0 then ${id("clnt_large", "0")} else ${id("clnt_client", n)} end`

const insertClients = (label: string, size: number) => `
  insert into clients (tenant_id, id, name, description, "order", created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, ${name}, repeat('${text}', 1 + n % 10), case when n % 4 = 0 then n end, ${spread(size)}, now(), 1
  from ${series(size)}`

const insertContracts = (label: string, size: number, client: string) => `
  insert into contracts (tenant_id, id, client_id, name, description, status, currency_code, payment_term_days,
    created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, ${client}, ${name}, '${text}', 'ACTIVE', 'CHF', 30, ${spread(size)}, now(), 1
  from ${series(size)}`

const insertContacts = (label: string, size: number) => `
  insert into contacts (tenant_id, id, client_id, name, created_at, updated_at, sequence)
  select ${tenant}, ${id(label)}, ${clientOf("n % 5000")}, ${name}, now(), now(), 1 from ${series(size)}`

/** What is not billed: clients with their contracts, projects and contacts, and what belongs to the tenant. */
export const makeBaseStatements = (pools: Pools) => {
  const sizeOf = (pool: string) => pools[pool]?.size ?? 0
  return [
    insertClients("clnt_large", 1),
    insertClients("clnt_client", sizeOf("client")),
    insertClients("clnt_spare", sizeOf("spareClient")),
    `insert into addresses (tenant_id, id, client_id, name, address1, country, city, zip, created_at, updated_at, sequence)
     select ${tenant}, ${id("adr_address")}, ${clientOf("n")}, ${name}, 'Hafenstrasse 12', 'CH', 'Basel', '4057', now(), now(), 1
     from ${series(sizeOf("address"))}`,
    insertContacts("con_contact", sizeOf("contact")),
    insertContacts("con_spare", sizeOf("spareContact")),
    `insert into emails (tenant_id, id, contact_id, address, created_at, updated_at, sequence)
     select ${tenant}, ${id("eml_email")}, ${id("con_contact", "n / 2")}, 'n' || n || '@example.com', now(), now(), 1
     from ${series(sizeOf("email"))}`,
    insertContracts("ctr_large", 1, id("clnt_large")),
    insertContracts("ctr_contract", sizeOf("contract"), clientOf("n")),
    insertContracts("ctr_spare", sizeOf("spareContract"), id("clnt_client", "n")),
    `insert into projects (tenant_id, id, contract_id, name, description, created_at, updated_at, sequence)
     select ${tenant}, ${id("prj_project")}, ${id("ctr_contract", "n % 1000")}, ${name}, '${text}', now(), now(), 1
     from ${series(sizeOf("project"))}`,
    `insert into tax_rates (tenant_id, id, name, percent, category, created_at, updated_at, sequence)
     select ${tenant}, ${id("tax_rate")}, 'VAT ' || n, 8.1, 'S', now(), now(), 1 from ${series(sizeOf("taxRate"))}`,
    `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
     select ${tenant}, ${id("mem_member")}, issuer, 'member ' || n, 'MEMBER', now(), now(), 1
     from ${series(sizeOf("member"))}, members where tenant_id = ${tenant}`,
    `insert into tenants (id, name, created_at, updated_at, sequence)
     select ${id("tnt_spare")}, 'Spare ' || n, now(), now(), 1 from ${series(sizeOf("spareTenant"))}`,
    `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
     select ${id("tnt_spare")}, ${id("mem_spare")}, issuer, subject, 'OWNER', now(), now(), 1
     from ${series(sizeOf("spareTenant"))}, members where tenant_id = ${tenant} and role = 'OWNER'`,
    `insert into assets (tenant_id, id, kind, access, source, status, content_type, created_at, updated_at, sequence)
     select ${tenant}, ${id("ast_pending")}, 'BRANDING_LOGO', 'PUBLIC', 'USER_UPLOAD', 'PENDING', 'image/png', now(), now(), 1
     from ${series(sizeOf("pendingAsset"))}`
  ]
}

const insertInvoices = (label: string, size: number, lines: number, contract: string, isIssued = false) => `
  insert into invoices (tenant_id, id, contract_id, status, currency_code, subtotal_minor, total_minor, billable_count,
    created_at, updated_at, sequence, invoice_number, period, place, parties, issued_at, due_at)
  select ${tenant}, ${id(`inv_${label}`)}, ${contract}, case when issued.place is null then 'DRAFT' else 'FINALIZED' end, 'CHF',
    ${lines * line.totalMinor}, ${lines * line.totalMinor}, ${lines}, now(), now(), 1, issued.*
  from ${series(size)} left join lateral (
    select 'INV-2026-' || lpad((n + 1)::text, 6, '0'), '2026', n + 1, ${setting("parties")}::json, ${spread(size)},
      ${spread(size)} + interval '30 days'
  ) issued (number, period, place, parties, at, due) on ${isIssued}`

const insertLines = (label: string, size: number, lines: number) => `
  insert into billables (tenant_id, id, invoice_id, name, description, quantity, amount_minor, currency_code,
    line_total_minor, reference_type, reference_id, created_at, updated_at, sequence)
  select ${tenant}, ${id(`bil_${label}`, `n * ${lines} + l`)}, ${id(`inv_${label}`)}, 'Work of day ' || l, '${text}',
    ${line.quantity}, ${line.amountMinor}, 'CHF', ${line.totalMinor}, 'timesheet', '${label}' || n || '.' || l, now(), now(), 1
  from ${series(size)}, generate_series(0, ${lines - 1}) l`

const issuedCount = 20_000
const largeLines = 4000

/** Drafts and issued invoices, most of them of one contract. */
export const makeInvoiceStatements = (pools: Pools) => {
  const drafts = pools["draft"]?.size ?? 0
  const large = largeIssuedCount + (pools["largeDraft"]?.size ?? 0)
  const contract = id("ctr_contract")
  return {
    drafts: [
      insertInvoices("draft", drafts, 2, contract),
      insertLines("draft", drafts, 2),
      insertInvoices("large", large, largeLines, contract),
      insertLines("large", large, largeLines)
    ],
    issued: [
      insertInvoices(
        "issued",
        issuedCount,
        3,
        `case when n < ${pools["issued"]?.size ?? 0} then ${id("ctr_large", "0")} else ${id("ctr_contract", "n % 5000")} end`,
        true
      ),
      insertLines("issued", issuedCount, 3)
    ]
  }
}

/** What is booked: issued invoices, those that are paid, and payments of which nothing is allocated. */
export const makeSettlementStatements = (pools: Pools) => {
  const payments = pools["payment"]?.size ?? 0
  return [
    `insert into invoice_series (tenant_id, pattern) values (${tenant}, 'INV-{year}-{seq:6}') on conflict do nothing`,
    `insert into invoice_counters (tenant_id, period, last) values (${tenant}, '2026', ${issuedCount})`,
    `insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor, credit_minor)
     select tenant_id, 'INVOICE', issued_at, client_id, currency_code, id, total_minor, 0
     from invoices where tenant_id = ${tenant} and status = 'FINALIZED' order by issued_at`,
    // Triggers book these payments. Credit notes of paid invoices have something to refund.
    `update invoices set status = 'PAID', paid_at = issued_at + interval '20 days', sequence = sequence + 1
     where tenant_id = ${tenant} and (id >= ${id("inv_issued", "14000")} and id <= ${id("inv_issued", String(issuedCount))}
       or id >= ${id("inv_issued", "8000")} and id < ${id("inv_issued", "8200")})`,
    `insert into payments (tenant_id, id, client_id, currency_code, amount_minor, received_at, status, allocations,
       unallocated_minor, refunded_minor, created_at, updated_at, sequence)
     select ${tenant}, ${id("pay_open")}, ${id("clnt_large", "0")}, 'CHF', 1000000, ${spread(payments)}, 'RECORDED', '[]', 1000000, 0,
       now(), now(), 1
     from ${series(payments)}`,
    `insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, payment_id, invoice_minor, credit_minor)
     select tenant_id, 'PAYMENT', received_at, client_id, currency_code, id, 0, amount_minor
     from payments where tenant_id = ${tenant} and id like 'pay\\_open%'`
  ]
}

const insertIntegrations = (label: string, size: number, provider: string, status: string) => `
  insert into all_integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
    updated_at, sequence)
  select ${tenant}, ${id(`int_${label}`)}, '${provider}', 'Integration ' || n, '${status}', true,
    ${provider === "WEBHOOK" ? `'{"url":"http://127.0.0.1:9/hook"}'` : "'{}'"}, '[]', now(), now(), 1
  from ${series(size)}`

/** Integrations, with the issues and webhooks of a tracker. */
export const makeIntegrationStatements = (pools: Pools) => {
  const sizeOf = (pool: string) => pools[pool]?.size ?? 0
  return [
    insertIntegrations("jira", 1, "JIRA", "ACTIVE"),
    insertIntegrations("spare", sizeOf("spareIntegration"), "WEBHOOK", "ACTIVE"),
    insertIntegrations("paused", sizeOf("pausedIntegration"), "WEBHOOK", "PAUSED"),
    `insert into webhook_endpoints (tenant_id, integration_id, key_hash, sealed)
     values (${tenant}, ${id("int_jira", "0")}, '\\x${keyHash}', '')`,
    `insert into tracker_webhooks (tenant_id, integration_id, webhook_id, site_id, key_hash, expires_at)
     values (${tenant}, ${id("int_jira", "0")}, 1000, 'site', '\\x${keyHash}', now() + interval '30 days')`,
    `insert into tracked_issues (tenant_id, id, integration_id, external_id, issue_key, project_key, title, state,
       is_deleted, happened_at, created_at, updated_at, sequence)
     select ${tenant}, ${id("iss_issue")}, ${id("int_jira", "0")}, 'i' || n, 'P' || n / 20 || '-' || n % 20, 'P' || n / 20,
       '${text}', 'To Do', false, 1000, now(), now(), 1
     from ${series(sizeOf("issue"))}`,
    `insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at, body,
       status, attempts, received_at, processed_at)
     select ${tenant}, ${id("whk_inbound")}, ${id("int_jira", "0")}, 'old' || n, 'jira:issue_updated', 'i' || n, 'P1-1', 1000, '{}',
       'DONE', 1, now() - interval '1 day', now() - interval '1 day'
     from ${series(sizeOf("inbound"))}`
  ]
}

/** Events that were delivered to the webhook integration long ago. */
export const makeHistoryStatements = (pools: Pools) => {
  const rows = series(pools["event"]?.size ?? 0)
  const at = "now() - interval '1 day'"
  return [
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select ${tenant}, ${id("evt_old")}, 'client.updated', ${id("clnt_old", "n / 10")}, n, ${at},
       json_build_object('name', 'Nordwind', 'description', repeat('${text}', 5))
     from ${rows}`,
    `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out, type)
     select ${tenant}, -n, ${id("evt_old")}, ${id("clnt_old", "n / 10")}, n, true, 'client.updated'
     from ${rows}`,
    `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status, attempts,
       response_status, delivered_at, created_at, updated_at)
     select ${tenant}, ${id("dlv_old")}, ${webhook}, ${id("evt_old")}, 'client.updated', ${id("clnt_old", "n / 10")}, n, 'DELIVERED', 1,
       200, ${at}, ${at}, ${at}
     from ${rows}`,
    `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, latency_ms)
     select ${tenant}, ${id("dlv_old")}, 1, ${at}, 'DELIVERED', 1 from ${rows}`
  ]
}
