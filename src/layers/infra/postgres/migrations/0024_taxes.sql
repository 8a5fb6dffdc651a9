create table tax_rates (
  tenant_id        text not null references tenants (id),
  id               text not null,
  name             text not null,
  percent          numeric not null check (percent between 0 and 100),
  category         text check (category in ('S', 'Z', 'E', 'AE', 'K', 'G', 'O')),
  exemption_reason text,
  exemption_code   text,
  "order"          bigint,
  archived_at      timestamptz(3),
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  sequence         integer not null,
  primary key (tenant_id, id),
  check ((category = 'S') = (percent > 0) or category is null)
);
create index tax_rates_in_order on tax_rates (tenant_id, (coalesce("order", 9223372036854775807)), id);

-- Null on a contract stands for the defaults of the tenant.
alter table tenants
  add column time_zone         text not null default 'UTC',
  add column bank_account      json,
  add column default_tax_rates jsonb;
alter table contracts add column default_tax_rates jsonb;

alter table billables
  add column tax_rates       json not null default '[]',
  add column discount        json,
  add column discount_reason text,
  add column discount_minor  bigint not null default 0;

-- tax_sets has the sums of the lines by their combination of taxes. Lines without tax are the rest of the subtotal.
alter table invoices
  add column discount        json,
  add column discount_reason text,
  add column discount_minor  bigint not null default 0,
  add column taxes           json not null default '[]',
  add column tax_minor       bigint not null default 0,
  add column tax_sets        json not null default '[]';

alter table invoices drop constraint invoices_check;
alter table invoices add constraint invoices_total
  check (total_minor = subtotal_minor - discount_minor + tax_minor and discount_minor >= 0) not valid;

-- The client of the contract, which never changes, for lists of a client's invoices.
alter table invoices add column client_id text;
create function set_invoice_client() returns trigger language plpgsql as $$
begin
  select client_id into new.client_id from contracts where tenant_id = new.tenant_id and id = new.contract_id;
  return new;
end $$;
create trigger invoices_have_client before insert on invoices for each row execute function set_invoice_client();

-- Issuing freezes an invoice: from then on only its status and its time of payment change, and nothing once it is
-- paid or void. Invoices of the release before get their client once.
create or replace function keep_issued_invoice() returns trigger language plpgsql as $$
begin
  if (old.status in ('PAID', 'VOID') and not (old.client_id is null and new.client_id is not null))
    or (new.tenant_id, new.id, new.contract_id, new.invoice_number, new.currency_code, new.subtotal_minor,
        new.billable_count, new.issued_at, new.due_at, new.created_at, new.period, new.place, new.parties::text,
        new.discount::text, new.discount_reason, new.discount_minor, new.taxes::text, new.tax_minor, new.total_minor)
      is distinct from
       (old.tenant_id, old.id, old.contract_id, old.invoice_number, old.currency_code, old.subtotal_minor,
        old.billable_count, old.issued_at, old.due_at, old.created_at, old.period, old.place, old.parties::text,
        old.discount::text, old.discount_reason, old.discount_minor, old.taxes::text, old.tax_minor, old.total_minor)
  then
    raise exception 'invoice % is % and cannot be changed', old.id, old.status using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- Where the numbers of a period begin, for a tenant that continues a series from elsewhere.
alter table invoice_counters add column start integer not null default 1;
