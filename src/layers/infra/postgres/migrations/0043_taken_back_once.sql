-- An invoice is taken back once: by voiding it, or by credit notes of at most its net.

-- The net of its finalized credit notes. Null before the first one.
alter table invoices add column credited_net_minor bigint;
alter table invoices add constraint invoices_credited_net check (
  credited_net_minor is null or (status in ('FINALIZED', 'PAID') and credited_net_minor
    between least(subtotal_minor - discount_minor, 0) and greatest(subtotal_minor - discount_minor, 0))) not valid;

-- As before, but a credit note counts on when the invoice is paid.
create or replace function keep_issued_invoice() returns trigger language plpgsql as $$
begin
  if ((old.status = 'VOID'
      or (old.status = 'PAID' and (new.paid_minor, new.credited_minor, new.written_off_minor)
        = (old.paid_minor, old.credited_minor, old.written_off_minor)))
      and to_jsonb(new) - '{sequence,credited_net_minor}'::text[]
        <> to_jsonb(old) - '{sequence,credited_net_minor}'::text[])
    or (new.tenant_id, new.id, new.contract_id, new.client_id, new.invoice_number, new.currency_code, new.subtotal_minor,
        new.billable_count, new.issued_at, new.due_at, new.created_at, new.period, new.place, new.parties::text,
        new.discount::text, new.discount_reason, new.discount_minor, new.taxes::text, new.tax_minor, new.total_minor,
        new.buyer_reference, new.purchase_order, new.notes, new.service_from, new.service_to, new.deliver_to_country,
        new.tax_currency_code, new.tax_currency_rate)
      is distinct from
       (old.tenant_id, old.id, old.contract_id, coalesce(old.client_id, new.client_id), old.invoice_number,
        old.currency_code, old.subtotal_minor, old.billable_count, old.issued_at, old.due_at, old.created_at, old.period,
        old.place, old.parties::text, old.discount::text, old.discount_reason, old.discount_minor, old.taxes::text,
        old.tax_minor, old.total_minor, old.buyer_reference, old.purchase_order, old.notes, old.service_from,
        old.service_to, old.deliver_to_country, old.tax_currency_code, old.tax_currency_rate)
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

-- From here on the billed amount of a contract is what these triggers make it: the net of its invoices that are not void,
-- less that of their finalized credit notes. Each change costs the same, whatever the contract has billed before. An amount
-- that differed before keeps its difference.
create function bill_changed_invoice() returns trigger language plpgsql as $$
begin
  if new.contract_id <> old.contract_id then
    raise exception 'invoice % cannot move to another contract', old.id using errcode = 'restrict_violation';
  end if;
  update contracts set billed_minor = billed_minor
    + case new.status when 'VOID' then 0 else new.subtotal_minor - new.discount_minor end
    - case old.status when 'VOID' then 0 else old.subtotal_minor - old.discount_minor end
  where tenant_id = new.tenant_id and id = new.contract_id;
  return null;
end $$;
create trigger invoices_billed after update on invoices for each row
  when ((old.contract_id, old.status = 'VOID', old.subtotal_minor - old.discount_minor)
    is distinct from (new.contract_id, new.status = 'VOID', new.subtotal_minor - new.discount_minor))
  execute function bill_changed_invoice();

-- A loop, because a join could read all contracts. The erasure of a deleted tenant leaves the amounts alone: on its way
-- they could exceed a cap.
create function bill_invoices() returns trigger language plpgsql as $$
declare
  of_contract record;
begin
  for of_contract in
    select tenant_id, contract_id, sum(subtotal_minor - discount_minor) as minor from changed
    where status <> 'VOID' group by tenant_id, contract_id having sum(subtotal_minor - discount_minor) <> 0
    order by tenant_id, contract_id
  loop
    update contracts
    set billed_minor = billed_minor + case tg_op when 'DELETE' then -of_contract.minor else of_contract.minor end
    where tenant_id = of_contract.tenant_id and id = of_contract.contract_id
      and (tg_op = 'INSERT' or (select deleted_at is null from tenants where tenants.id = of_contract.tenant_id));
  end loop;
  return null;
end $$;
create trigger invoices_billed_when_added after insert on invoices
  referencing new table as changed for each statement execute function bill_invoices();
create trigger invoices_billed_when_deleted after delete on invoices
  referencing old table as changed for each statement execute function bill_invoices();

-- The journal keeps finalized notes from being deleted.
create function bill_credit_note() returns trigger language plpgsql as $$
declare
  contract text;
begin
  update invoices set credited_net_minor = coalesce(credited_net_minor, 0) + new.subtotal_minor - new.discount_minor
  where tenant_id = new.tenant_id and id = new.invoice_id returning contract_id into contract;
  update contracts set billed_minor = billed_minor - (new.subtotal_minor - new.discount_minor)
  where tenant_id = new.tenant_id and id = contract;
  return null;
end $$;
create trigger credit_notes_billed after update on credit_notes for each row
  when (old.status <> 'FINALIZED' and new.status = 'FINALIZED') execute function bill_credit_note();
create trigger credit_notes_billed_when_added after insert on credit_notes for each row
  when (new.status = 'FINALIZED') execute function bill_credit_note();

-- Nothing but these triggers moves the amount. The release before still writes it, so this ignores it; the next release
-- can raise an error.
create function keep_billed_amount() returns trigger language plpgsql as $$
begin
  new.billed_minor := coalesce(old.billed_minor, 0);
  return new;
end $$;
create trigger contracts_billed_kept before update on contracts for each row
  when (old.billed_minor <> new.billed_minor and pg_trigger_depth() = 0) execute function keep_billed_amount();
create trigger contracts_billed_from_0 before insert on contracts for each row
  when (new.billed_minor <> 0) execute function keep_billed_amount();

-- The uploads to Google Drive that stored the PDF of an invoice, or may have: those without `stored_at`. A row is written
-- before its upload, and deleted if Google refuses it. Rows outlive their deliveries and integrations, so no foreign key
-- leads there.
create table invoice_uploads (
  tenant_id      text not null references tenants (id),
  delivery_id    text not null,
  attempt        integer not null,
  integration_id text not null,
  invoice_id     text not null,
  started_at     timestamptz(3) not null,
  stored_at      timestamptz(3),
  primary key (tenant_id, delivery_id, attempt)
);
create index invoice_uploads_of_invoice on invoice_uploads (tenant_id, invoice_id);
