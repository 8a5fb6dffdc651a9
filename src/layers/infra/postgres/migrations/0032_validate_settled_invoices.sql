-- no transaction
alter table invoices validate constraint invoices_settled;
create index concurrently if not exists invoices_open_of_client on invoices (tenant_id, client_id, currency_code)
  where status = 'FINALIZED';
create index concurrently if not exists payments_unused_of_client on payments (tenant_id, client_id, currency_code)
  where unallocated_minor > 0;
