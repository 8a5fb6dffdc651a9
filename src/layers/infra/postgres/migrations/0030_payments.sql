-- What settles an issued invoice.
alter table invoices
  add column paid_minor        bigint not null default 0,
  add column credited_minor    bigint not null default 0,
  add column written_off_minor bigint not null default 0;

create table payments (
  tenant_id         text not null,
  id                text not null,
  client_id         text not null,
  currency_code     text not null,
  amount_minor      bigint not null check (amount_minor between 1 and 9007199254740991),
  received_at       timestamptz(3) not null,
  method            text,
  reference         text,
  external_id       text,
  status            text not null check (status in ('RECORDED', 'REVERSED')),
  allocations       json not null,
  unallocated_minor bigint not null check (unallocated_minor >= 0),
  refunded_minor    bigint not null check (refunded_minor >= 0),
  reversed_at       timestamptz(3),
  reversal_reason   text,
  created_by        text,
  created_at        timestamptz(3) not null,
  updated_at        timestamptz(3) not null,
  sequence          integer not null,
  primary key (tenant_id, id),
  constraint payments_client_id_fkey foreign key (tenant_id, client_id) references clients (tenant_id, id),
  check (unallocated_minor + refunded_minor <= amount_minor),
  check ((status = 'REVERSED') = (reversed_at is not null)),
  check (status = 'RECORDED' or unallocated_minor + refunded_minor = 0)
);
create index payments_of_client on payments (tenant_id, client_id, id);
create unique index payments_external_id_key on payments (tenant_id, external_id)
  where status = 'RECORDED' and external_id is not null;

-- Every amount that a client owes, pays or is released from. Entries of an invoice and of a payment are numbered, and
-- have the sums after them: a trigger adds them up, so that their cost does not depend on the number of entries.
create table journal_entries (
  tenant_id         text not null,
  id                bigint generated always as identity,
  kind              text not null
    check (kind in ('INVOICE', 'VOID', 'PAYMENT', 'ALLOCATION', 'REFUND', 'REVERSAL', 'WRITE_OFF')),
  booked_at         timestamptz(3) not null,
  client_id         text not null,
  currency_code     text not null,
  -- What is open of the invoice changes by this much, and what is unused of the payment by that much.
  invoice_id        text,
  invoice_minor     bigint not null,
  payment_id        text,
  credit_minor      bigint not null,
  reason            text,
  created_by        text,
  invoice_place     integer,
  balance_minor     bigint check (balance_minor >= 0),
  paid_minor        bigint check (paid_minor >= 0),
  written_off_minor bigint check (written_off_minor >= 0),
  payment_place     integer,
  unused_minor      bigint check (unused_minor >= 0),
  primary key (tenant_id, id),
  foreign key (tenant_id, invoice_id) references invoices (tenant_id, id),
  foreign key (tenant_id, payment_id) references payments (tenant_id, id),
  check (invoice_id is not null or invoice_minor = 0),
  check (payment_id is not null or credit_minor = 0),
  unique (tenant_id, invoice_id, invoice_place),
  unique (tenant_id, payment_id, payment_place)
);
create index journal_entries_of_client on journal_entries (tenant_id, client_id, booked_at, id);
create index journal_entries_by_time on journal_entries (tenant_id, booked_at, id);

create function add_journal_sums() returns trigger language plpgsql as $$
declare
  last journal_entries;
begin
  if new.invoice_id is not null then
    select * into last from journal_entries
    where tenant_id = new.tenant_id and invoice_id = new.invoice_id order by invoice_place desc limit 1;
    new.invoice_place := coalesce(last.invoice_place, 0) + 1;
    new.balance_minor := coalesce(last.balance_minor, 0) + new.invoice_minor;
    new.paid_minor := coalesce(last.paid_minor, 0) - case when new.payment_id is null then 0 else new.invoice_minor end;
    new.written_off_minor := coalesce(last.written_off_minor, 0)
      - case when new.payment_id is null and new.kind in ('WRITE_OFF', 'REVERSAL') then new.invoice_minor else 0 end;
  end if;
  if new.payment_id is not null then
    select * into last from journal_entries
    where tenant_id = new.tenant_id and payment_id = new.payment_id order by payment_place desc limit 1;
    new.payment_place := coalesce(last.payment_place, 0) + 1;
    new.unused_minor := coalesce(last.unused_minor, 0) + new.credit_minor;
  end if;
  return new;
end $$;
create trigger journal_entries_have_sums before insert on journal_entries
  for each row execute function add_journal_sums();

create function refuse_journal_change() returns trigger language plpgsql as $$
begin
  raise exception 'journal entries cannot be changed' using errcode = 'restrict_violation';
end $$;
create trigger journal_entries_stay before update on journal_entries
  for each row execute function refuse_journal_change();

-- Only the erasure of a deleted tenant deletes entries.
create function refuse_journal_deletion() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from (select distinct tenant_id from gone) g join tenants on tenants.id = g.tenant_id and deleted_at is null
  ) then
    raise exception 'journal entries cannot be deleted' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger journal_entries_not_deleted after delete on journal_entries
  referencing old table as gone for each statement execute function refuse_journal_deletion();

-- Books what the release before did to an invoice, which knows no journal: it issues, pays and voids. The identifier of
-- its payment is that of the invoice with another prefix.
create function book_invoice(invoice invoices) returns void language plpgsql as $$
declare
  last    journal_entries;
  payment text := 'pay_' || substr(invoice.id, 5);
begin
  if invoice.issued_at is null then return; end if;
  select * into last from journal_entries
  where tenant_id = invoice.tenant_id and invoice_id = invoice.id order by invoice_place desc limit 1;
  if last.id is null then
    insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor, credit_minor)
    values (invoice.tenant_id, 'INVOICE', invoice.issued_at, invoice.client_id, invoice.currency_code, invoice.id,
      invoice.total_minor, 0)
    returning * into last;
  end if;
  if invoice.status = 'VOID' and last.kind <> 'VOID' then
    insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor, credit_minor)
    values (invoice.tenant_id, 'VOID', invoice.updated_at, invoice.client_id, invoice.currency_code, invoice.id,
      -invoice.total_minor, 0);
  elsif invoice.status = 'PAID' and last.balance_minor > 0 then
    insert into payments (tenant_id, id, client_id, currency_code, amount_minor, received_at, status, allocations,
      unallocated_minor, refunded_minor, created_at, updated_at, sequence)
    values (invoice.tenant_id, payment, invoice.client_id, invoice.currency_code, last.balance_minor, invoice.paid_at,
      'RECORDED', json_build_array(json_build_object('invoice', invoice.id, 'amountMinor', last.balance_minor)),
      0, 0, invoice.paid_at, invoice.paid_at, 0);
    insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
      payment_id, credit_minor)
    values
      (invoice.tenant_id, 'PAYMENT', invoice.paid_at, invoice.client_id, invoice.currency_code, null, 0,
        payment, last.balance_minor),
      (invoice.tenant_id, 'ALLOCATION', invoice.paid_at, invoice.client_id, invoice.currency_code, invoice.id,
        -last.balance_minor, payment, -last.balance_minor);
  end if;
end $$;

-- Holds an invoice equal to its last entry.
create function require_journal_sums(invoice invoices) returns void language plpgsql as $$
declare
  last journal_entries;
begin
  select * into last from journal_entries
  where tenant_id = invoice.tenant_id and invoice_id = invoice.id order by invoice_place desc limit 1;
  if (invoice.paid_minor, invoice.written_off_minor)
      is distinct from (coalesce(last.paid_minor, 0), coalesce(last.written_off_minor, 0))
    or coalesce(last.balance_minor, 0) <> (case when invoice.status in ('FINALIZED', 'PAID')
      then invoice.total_minor - invoice.paid_minor - invoice.credited_minor - invoice.written_off_minor else 0 end)
  then
    raise exception 'invoice % differs from its journal', invoice.id using errcode = 'integrity_constraint_violation';
  end if;
end $$;

create function book_changed_invoice() returns trigger language plpgsql as $$
begin
  if old.status <> new.status or old.paid_minor <> new.paid_minor then
    perform book_invoice(new);
  end if;
  perform require_journal_sums(new);
  return null;
end $$;
-- Fires at the end of the statement, which has booked what it did by then.
create trigger invoices_booked after update on invoices for each row
  when (old.status <> new.status or (old.paid_minor, old.credited_minor, old.written_off_minor)
    is distinct from (new.paid_minor, new.credited_minor, new.written_off_minor))
  execute function book_changed_invoice();

create function check_booked_documents() returns trigger language plpgsql as $$
begin
  if new.invoice_id is not null then
    perform require_journal_sums(invoices) from invoices where tenant_id = new.tenant_id and id = new.invoice_id;
  end if;
  if new.payment_id is not null and exists (
    select 1 from payments
    where tenant_id = new.tenant_id and id = new.payment_id and unallocated_minor <> (
      select unused_minor from journal_entries
      where tenant_id = new.tenant_id and payment_id = new.payment_id order by payment_place desc limit 1)
  ) then
    raise exception 'payment % differs from its journal', new.payment_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger journal_entries_match after insert on journal_entries
  deferrable initially deferred for each row execute function check_booked_documents();

-- Issuing freezes an invoice: from then on only its status, its time of payment and what settles it change. Once it is
-- paid, nothing changes but what settles it; once it is void, nothing at all. The release before marks an invoice as paid without a payment: the trigger above books it.
create or replace function keep_issued_invoice() returns trigger language plpgsql as $$
begin
  if old.status = 'VOID'
    or (old.status = 'PAID' and (new.paid_minor, new.credited_minor, new.written_off_minor)
      = (old.paid_minor, old.credited_minor, old.written_off_minor))
    or (new.tenant_id, new.id, new.contract_id, new.client_id, new.invoice_number, new.currency_code, new.subtotal_minor,
        new.billable_count, new.issued_at, new.due_at, new.created_at, new.period, new.place, new.parties::text,
        new.discount::text, new.discount_reason, new.discount_minor, new.taxes::text, new.tax_minor, new.total_minor)
      is distinct from
       (old.tenant_id, old.id, old.contract_id, coalesce(old.client_id, new.client_id), old.invoice_number,
        old.currency_code, old.subtotal_minor, old.billable_count, old.issued_at, old.due_at, old.created_at, old.period, old.place, old.parties::text,
        old.discount::text, old.discount_reason, old.discount_minor, old.taxes::text, old.tax_minor, old.total_minor)
  then
    raise exception 'invoice % is % and cannot be changed', old.id, old.status using errcode = 'restrict_violation';
  end if;
  if old.status = 'FINALIZED' and new.status = 'PAID' and new.paid_minor = old.paid_minor
    and new.credited_minor = old.credited_minor and new.written_off_minor = old.written_off_minor
  then
    new.paid_minor := new.total_minor - new.credited_minor - new.written_off_minor;
  end if;
  return new;
end $$;

alter table invoices add constraint invoices_settled check (
  paid_minor >= 0 and credited_minor >= 0 and written_off_minor >= 0
  and case status
    when 'PAID' then paid_minor + credited_minor + written_off_minor = total_minor
    when 'FINALIZED' then paid_minor + credited_minor + written_off_minor < total_minor or total_minor = 0
    else paid_minor + credited_minor + written_off_minor = 0
  end) not valid;
