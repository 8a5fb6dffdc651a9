-- What a contract's invoices that are not void come to. It moves under the lock of the contract's row, and the check
-- holds whatever two requests at once believe.
alter table contracts
  add column billed_minor bigint not null default 0,
  add constraint contracts_cap_minor_min check (billed_minor <= cap_minor),
  add constraint contracts_currency_key unique (tenant_id, id, currency_code);

create table invoices (
  tenant_id      text not null,
  id             text not null,
  contract_id    text not null,
  status         text not null check (status in ('DRAFT', 'FINALIZED', 'PAID', 'VOID')),
  invoice_number text,
  currency_code  text not null,
  subtotal_minor bigint not null check (abs(subtotal_minor) <= 9007199254740991),
  total_minor    bigint not null check (total_minor = subtotal_minor),
  billable_count integer not null check (billable_count >= 0),
  issued_at      timestamptz(3),
  due_at         timestamptz(3),
  paid_at        timestamptz(3),
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  sequence       integer not null,
  -- Where the number stands in its series, and who was on either side when it was given.
  period         text,
  place          integer,
  parties        json,
  primary key (tenant_id, id),
  constraint invoices_contract_id_fkey foreign key (tenant_id, contract_id) references contracts (tenant_id, id),
  -- The invoice is in its contract's currency, and the contract keeps the currency it was invoiced in.
  constraint invoices_currency_code_fkey
    foreign key (tenant_id, contract_id, currency_code) references contracts (tenant_id, id, currency_code),
  constraint invoices_currency_key unique (tenant_id, id, currency_code),
  constraint invoices_invoice_number_key unique (tenant_id, invoice_number),
  constraint invoices_place_key unique (tenant_id, period, place),
  check (case status when 'DRAFT' then invoice_number is null when 'VOID' then true else invoice_number is not null end),
  check ((invoice_number is null) = (place is null) and (place is null) = (issued_at is null)
    and (place is null) = (parties is null) and (place is null) = (period is null)),
  check ((status = 'PAID') = (paid_at is not null))
);
create index invoices_of_contract on invoices (tenant_id, contract_id, id);
create index invoices_by_status on invoices (tenant_id, status, id);
create index invoices_due on invoices (tenant_id, due_at) where status = 'FINALIZED';

-- Once issued, an invoice only ever changes its status; once paid or void, nothing at all.
create function keep_issued_invoice() returns trigger language plpgsql as $$
begin
  if old.status in ('PAID', 'VOID')
    or (new.tenant_id, new.id, new.contract_id, new.invoice_number, new.currency_code, new.subtotal_minor,
        new.billable_count, new.issued_at, new.due_at, new.created_at, new.period, new.place, new.parties::text)
      is distinct from
       (old.tenant_id, old.id, old.contract_id, old.invoice_number, old.currency_code, old.subtotal_minor,
        old.billable_count, old.issued_at, old.due_at, old.created_at, old.period, old.place, old.parties::text)
  then
    raise exception 'invoice % is % and cannot be changed', old.id, old.status using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger invoices_kept before update on invoices
  for each row when (old.status <> 'DRAFT') execute function keep_issued_invoice();

create table billables (
  tenant_id        text not null,
  id               text not null,
  invoice_id       text not null,
  name             text not null,
  quantity         numeric not null,
  amount_minor     bigint not null,
  currency_code    text not null,
  line_total_minor bigint not null check (abs(line_total_minor) <= 9007199254740991),
  reference_type   text,
  reference_id     text,
  description      text,
  metadata         json,
  "order"          bigint,
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  sequence         integer not null,
  -- A void invoice lets go of what its lines refer to.
  released         boolean not null default false,
  primary key (tenant_id, id),
  check ((reference_type is null) = (reference_id is null)),
  constraint billables_invoice_id_fkey
    foreign key (tenant_id, invoice_id, currency_code) references invoices (tenant_id, id, currency_code)
);
create index billables_in_order on billables (tenant_id, (coalesce("order", 9223372036854775807)), id);
create index billables_of_invoice on billables (tenant_id, invoice_id, (coalesce("order", 9223372036854775807)), id);
-- What was billed is not billed again. The keys of a tracker's issues are its own: another site may have the same.
create unique index billables_reference_id_key on billables (tenant_id, reference_type, reference_id,
    (case when reference_type = 'jira' then coalesce(metadata ->> 'siteId', '') else '' end))
  where reference_id is not null and not released;
-- Nor is an issue that the tracker has given another key since.
create unique index billables_issue_id_key on billables (tenant_id, (metadata ->> 'issueId'))
  where reference_type = 'jira' and starts_with(metadata ->> 'issueId', 'iss_') and not released;

create table invoice_series (
  tenant_id   text primary key references tenants (id),
  pattern     text not null,
  -- Dates go up with the numbers, whatever a clock does.
  last_issued timestamptz(3)
);

create table invoice_counters (
  tenant_id text not null references invoice_series (tenant_id),
  period    text not null,
  last      integer not null,
  primary key (tenant_id, period)
);
