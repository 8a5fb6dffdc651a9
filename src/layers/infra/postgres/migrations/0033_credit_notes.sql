create table credit_notes (
  tenant_id          text not null,
  id                 text not null,
  invoice_id         text not null,
  client_id          text not null,
  currency_code      text not null,
  status             text not null check (status in ('DRAFT', 'FINALIZED')),
  credit_note_number text,
  reason             text not null,
  -- Everything that is left of the invoice, or these lines of it.
  "full"             boolean not null,
  lines              json not null,
  subtotal_minor     bigint not null,
  discount_minor     bigint not null,
  taxes              json not null,
  tax_minor          bigint not null,
  total_minor        bigint not null check (total_minor between 0 and 9007199254740991),
  allocations        json not null,
  unallocated_minor  bigint not null check (unallocated_minor >= 0),
  refunded_minor     bigint not null check (refunded_minor >= 0),
  issued_at          timestamptz(3),
  created_by         text,
  created_at         timestamptz(3) not null,
  updated_at         timestamptz(3) not null,
  sequence           integer not null,
  period             text,
  place              integer,
  -- What the notes before it had credited of each combination of taxes.
  credited_before    json,
  primary key (tenant_id, id),
  constraint credit_notes_invoice_id_fkey foreign key (tenant_id, invoice_id) references invoices (tenant_id, id),
  constraint credit_notes_client_id_fkey foreign key (tenant_id, client_id) references clients (tenant_id, id),
  constraint credit_notes_credit_note_number_key unique (tenant_id, credit_note_number),
  constraint credit_notes_place_key unique (tenant_id, period, place),
  check (total_minor = subtotal_minor - discount_minor + tax_minor),
  check (unallocated_minor + refunded_minor <= case status when 'DRAFT' then 0 else total_minor end),
  check ((status = 'FINALIZED') = (credit_note_number is not null)
    and (status = 'FINALIZED') = (issued_at is not null) and (status = 'FINALIZED') = (place is not null)
    and (status = 'FINALIZED') = (period is not null) and (status = 'FINALIZED') = (credited_before is not null))
);
create index credit_notes_of_invoice on credit_notes (tenant_id, invoice_id, id);
create index credit_notes_of_client on credit_notes (tenant_id, client_id, id);
create index credit_notes_unused_of_client on credit_notes (tenant_id, client_id, currency_code)
  where unallocated_minor > 0;

-- A finalized note is frozen but for what it settles.
create function keep_issued_credit_note() returns trigger language plpgsql as $$
begin
  if (new.tenant_id, new.id, new.invoice_id, new.client_id, new.currency_code, new.status, new.credit_note_number,
      new.reason, new."full", new.lines::text, new.subtotal_minor, new.discount_minor, new.taxes::text, new.tax_minor,
      new.total_minor, new.issued_at, new.created_by, new.created_at, new.period, new.place, new.credited_before::text)
    is distinct from
     (old.tenant_id, old.id, old.invoice_id, old.client_id, old.currency_code, old.status, old.credit_note_number,
      old.reason, old."full", old.lines::text, old.subtotal_minor, old.discount_minor, old.taxes::text, old.tax_minor,
      old.total_minor, old.issued_at, old.created_by, old.created_at, old.period, old.place, old.credited_before::text)
  then
    raise exception 'credit note % is % and cannot be changed', old.id, old.status using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger credit_notes_kept before update on credit_notes
  for each row when (old.status = 'FINALIZED') execute function keep_issued_credit_note();

-- What a finalized note credits of each line, and what the notes before it had credited of the line.
create table credit_note_lines (
  tenant_id      text not null,
  credit_note_id text not null,
  billable_id    text not null,
  quantity       numeric,
  amount_minor   bigint not null,
  before_minor   bigint not null,
  primary key (tenant_id, credit_note_id, billable_id),
  foreign key (tenant_id, credit_note_id) references credit_notes (tenant_id, id),
  foreign key (tenant_id, billable_id) references billables (tenant_id, id)
);
create index credit_note_lines_of_billable on credit_note_lines (tenant_id, billable_id);

-- What is credited of each combination of taxes of an invoice. The number of lines is that of the lines credited in full.
create table invoice_credits (
  tenant_id  text not null,
  invoice_id text not null,
  tax_sets   json not null,
  primary key (tenant_id, invoice_id),
  foreign key (tenant_id, invoice_id) references invoices (tenant_id, id)
);

alter table billables
  add column credited_quantity numeric not null default 0,
  add column credited_minor    bigint not null default 0;
alter table billables add constraint billables_credited check (
  case when line_total_minor < 0 then credited_minor between line_total_minor and 0
    else credited_minor between 0 and line_total_minor end) not valid;

create table credit_note_series (
  tenant_id   text primary key references tenants (id),
  pattern     text not null,
  last_issued timestamptz(3),
  sequence    integer not null default 0
);
create table credit_note_counters (
  tenant_id text not null references credit_note_series (tenant_id),
  period    text not null,
  start     integer not null default 1,
  last      integer not null,
  primary key (tenant_id, period)
);

create table credit_note_files (
  tenant_id      text not null,
  credit_note_id text not null,
  digest         text not null,
  size_bytes     bigint not null check (size_bytes > 0),
  created_at     timestamptz(3) not null default now(),
  primary key (tenant_id, credit_note_id),
  foreign key (tenant_id, credit_note_id) references credit_notes (tenant_id, id),
  constraint credit_note_files_digest_fkey foreign key (tenant_id, digest) references blobs (tenant_id, digest)
);
create index credit_note_files_of_blob on credit_note_files (tenant_id, digest);

-- A finalized credit note is booked like a payment, and settles invoices like one.
alter table journal_entries
  add column credit_note_id    text,
  add column credited_minor    bigint,
  add column credit_note_place integer;
alter table journal_entries drop constraint journal_entries_kind_check;
alter table journal_entries drop constraint journal_entries_check1;
alter table journal_entries add constraint journal_entries_kind_check check (
  kind in ('INVOICE', 'VOID', 'CREDIT_NOTE', 'PAYMENT', 'ALLOCATION', 'REFUND', 'REVERSAL', 'WRITE_OFF')) not valid;
alter table journal_entries add constraint journal_entries_credit check (
  credited_minor >= 0 and (payment_id is null or credit_note_id is null)
  and (payment_id is not null or credit_note_id is not null or credit_minor = 0)) not valid;
alter table journal_entries add constraint journal_entries_credit_note_id_fkey
  foreign key (tenant_id, credit_note_id) references credit_notes (tenant_id, id) not valid;

create or replace function add_journal_sums() returns trigger language plpgsql as $$
declare
  last journal_entries;
begin
  if new.invoice_id is not null then
    select * into last from journal_entries
    where tenant_id = new.tenant_id and invoice_id = new.invoice_id order by invoice_place desc limit 1;
    new.invoice_place := coalesce(last.invoice_place, 0) + 1;
    new.balance_minor := coalesce(last.balance_minor, 0) + new.invoice_minor;
    new.paid_minor := coalesce(last.paid_minor, 0) - case when new.payment_id is null then 0 else new.invoice_minor end;
    new.credited_minor := coalesce(last.credited_minor, 0)
      - case when new.credit_note_id is null then 0 else new.invoice_minor end;
    new.written_off_minor := coalesce(last.written_off_minor, 0)
      - case when new.payment_id is null and new.credit_note_id is null and new.kind in ('WRITE_OFF', 'REVERSAL')
        then new.invoice_minor else 0 end;
  end if;
  if new.payment_id is not null then
    select * into last from journal_entries
    where tenant_id = new.tenant_id and payment_id = new.payment_id order by payment_place desc limit 1;
    new.payment_place := coalesce(last.payment_place, 0) + 1;
    new.unused_minor := coalesce(last.unused_minor, 0) + new.credit_minor;
  end if;
  if new.credit_note_id is not null then
    select * into last from journal_entries
    where tenant_id = new.tenant_id and credit_note_id = new.credit_note_id order by credit_note_place desc limit 1;
    new.credit_note_place := coalesce(last.credit_note_place, 0) + 1;
    new.unused_minor := coalesce(last.unused_minor, 0) + new.credit_minor;
  end if;
  return new;
end $$;

create or replace function require_journal_sums(invoice invoices) returns void language plpgsql as $$
declare
  last journal_entries;
begin
  select * into last from journal_entries
  where tenant_id = invoice.tenant_id and invoice_id = invoice.id order by invoice_place desc limit 1;
  if (invoice.paid_minor, invoice.credited_minor, invoice.written_off_minor) is distinct from
      (coalesce(last.paid_minor, 0), coalesce(last.credited_minor, 0), coalesce(last.written_off_minor, 0))
    or coalesce(last.balance_minor, 0) <> (case when invoice.status in ('FINALIZED', 'PAID')
      then invoice.total_minor - invoice.paid_minor - invoice.credited_minor - invoice.written_off_minor else 0 end)
  then
    raise exception 'invoice % differs from its journal', invoice.id using errcode = 'integrity_constraint_violation';
  end if;
end $$;

create or replace function check_booked_documents() returns trigger language plpgsql as $$
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
  if new.credit_note_id is not null and exists (
    select 1 from credit_notes
    where tenant_id = new.tenant_id and id = new.credit_note_id and unallocated_minor <> (
      select unused_minor from journal_entries
      where tenant_id = new.tenant_id and credit_note_id = new.credit_note_id order by credit_note_place desc limit 1)
  ) then
    raise exception 'credit note % differs from its journal', new.credit_note_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;

alter table invoice_file_queue drop constraint invoice_file_queue_variant_check;
alter table invoice_file_queue add constraint invoice_file_queue_variant_check
  check (variant in ('ISSUED', 'VOID', 'CREDIT_NOTE')) not valid;
