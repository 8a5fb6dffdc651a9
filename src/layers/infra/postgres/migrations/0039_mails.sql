-- Invoices and credit notes by mail. A delivery to an EMAIL integration has a recipient, and an event can have several
-- of them. A delivery that is UNCERTAIN may have been sent: nothing sends it again by itself.
--
-- While two releases run: the fan-out of the release before fails after 0040, because its insert names the index that is
-- dropped there. Its events wait until a worker of this release fans them out; nothing is lost, and what is fanned out
-- already is sent as usual. Create EMAIL integrations when all workers run this release: older ones cannot send mails.
alter table deliveries add column recipient text;
alter table deliveries drop constraint deliveries_status_check;
alter table deliveries add constraint deliveries_status_check
  check (status in ('WAITING', 'PENDING', 'DELIVERED', 'EXHAUSTED', 'UNCERTAIN')) not valid;
alter table redeliveries drop constraint redeliveries_status_check;
alter table redeliveries add constraint redeliveries_status_check
  check (status in ('DELIVERED', 'EXHAUSTED', 'UNCERTAIN')) not valid;
alter table all_integrations drop constraint integrations_provider_check;
alter table all_integrations add constraint integrations_provider_check
  check (provider in ('JIRA', 'GOOGLE_DRIVE', 'WEBHOOK', 'NATS', 'EMAIL')) not valid;

-- What is known of each mail. A row without an outcome is written before the end of the message is sent: if it stays so,
-- the mail may have been sent. Rows outlive their deliveries and integrations, so no foreign key leads there.
create table invoice_mails (
  tenant_id       text not null references tenants (id),
  delivery_id     text not null,
  -- The attempts before the last redelivery: each redelivery is a round of its own.
  round           integer not null,
  integration_id  text not null,
  event_id        text not null,
  invoice_id      text,
  credit_note_id  text,
  recipient       text not null,
  message_id      text not null,
  -- Whether the mail server of the operator sends it, which quotas count.
  is_shared       boolean not null,
  requested_by    text,
  -- When all of the message but its end was sent. Null if the server refused it before.
  data_started_at timestamptz(3),
  outcome         text check (outcome in ('SENT', 'REFUSED', 'RETRY', 'UNCERTAIN')),
  reason          text,
  finished_at     timestamptz(3),
  primary key (tenant_id, delivery_id, round),
  check ((invoice_id is null) <> (credit_note_id is null))
);
create index invoice_mails_of_invoice on invoice_mails (invoice_id, tenant_id) where invoice_id is not null;
create index invoice_mails_of_credit_note on invoice_mails (credit_note_id, tenant_id) where credit_note_id is not null;
create index invoice_mails_shared on invoice_mails (tenant_id, data_started_at) where is_shared;
create index invoice_mails_of_caller on invoice_mails (requested_by, data_started_at) where is_shared;

-- As before, but events about mails count on when the invoice is paid or void.
create or replace function keep_issued_invoice() returns trigger language plpgsql as $$
begin
  if ((old.status = 'VOID'
      or (old.status = 'PAID' and (new.paid_minor, new.credited_minor, new.written_off_minor)
        = (old.paid_minor, old.credited_minor, old.written_off_minor)))
      and to_jsonb(new) - 'sequence' <> to_jsonb(old) - 'sequence')
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
