alter table addresses
  add column country_code       text,
  add column tax_number         text,
  add column electronic_address json;
alter table tenants add column billing_contact json;
-- Null stands for the default: English, receives no invoices, the unit "one".
alter table clients add column language text;
alter table contacts add column receives_invoices boolean;
alter table billables add column unit_code text;

alter table invoices
  add column buyer_reference    text,
  add column purchase_order     text,
  add column notes              text,
  add column service_from       date,
  add column service_to         date,
  add column deliver_to_country text,
  add column tax_currency_code  text,
  add column tax_currency_rate  numeric;
-- Never validated: the rows from before have none of these values.
alter table invoices add constraint invoices_header check (
  (service_from is null or service_to is null or service_from <= service_to)
  and (tax_currency_code is null) = (tax_currency_rate is null)
  and (tax_currency_code is null or tax_currency_code <> currency_code)
  and (tax_currency_rate is null or tax_currency_rate > 0)) not valid;

-- Issuing freezes an invoice: from then on only its status, its time of payment and what settles it change. Once it is
-- paid, nothing changes but what settles it; once it is void, nothing at all.
create or replace function keep_issued_invoice() returns trigger language plpgsql as $$
begin
  if old.status = 'VOID'
    or (old.status = 'PAID' and (new.paid_minor, new.credited_minor, new.written_off_minor)
      = (old.paid_minor, old.credited_minor, old.written_off_minor))
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
