-- no transaction
alter table billables validate constraint billables_credited;
alter table journal_entries validate constraint journal_entries_kind_check;
alter table journal_entries validate constraint journal_entries_credit;
alter table journal_entries validate constraint journal_entries_credit_note_id_fkey;
alter table invoice_file_queue validate constraint invoice_file_queue_variant_check;
create unique index concurrently if not exists journal_entries_credit_note_place on journal_entries
  (tenant_id, credit_note_id, credit_note_place) where credit_note_id is not null;
