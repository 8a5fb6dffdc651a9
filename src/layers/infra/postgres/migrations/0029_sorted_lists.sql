-- no transaction
-- Lower case by the rules of ICU, whatever the locale of the database; sorted by bytes, so that no new version of ICU
-- changes the order of an index.
create index concurrently if not exists clients_by_name
  on clients (tenant_id, (lower(name collate "und-x-icu") collate "C"), id);
create index concurrently if not exists contracts_by_name
  on contracts (tenant_id, (lower(name collate "und-x-icu") collate "C"), id);
create index concurrently if not exists projects_by_name
  on projects (tenant_id, (lower(name collate "und-x-icu") collate "C"), id);
create index concurrently if not exists contracts_by_status
  on contracts (tenant_id, status, (coalesce("order", 9223372036854775807)), id);

create index concurrently if not exists clients_with_text
  on clients using gin (tenant_id, (lower(name collate "und-x-icu") collate "C") gin_trgm_ops);
create index concurrently if not exists contracts_with_text
  on contracts using gin (tenant_id, (lower(name collate "und-x-icu") collate "C") gin_trgm_ops);
create index concurrently if not exists projects_with_text
  on projects using gin (tenant_id, (lower(name collate "und-x-icu") collate "C") gin_trgm_ops);
create index concurrently if not exists invoices_with_text
  on invoices using gin (tenant_id, (lower(invoice_number collate "und-x-icu") collate "C") gin_trgm_ops);
