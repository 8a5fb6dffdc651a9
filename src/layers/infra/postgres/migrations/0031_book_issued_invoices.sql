-- no transaction

-- accepted: each batch is committed by itself, and going through all of it again changes nothing
do $$
declare
  tenant text := '';
  last   text := '';
begin
  loop
    with page as materialized (
      select invoices as invoice from invoices
      where (tenant_id, id) > (tenant, last) order by tenant_id, id limit 1000 for update
    ), paid as (
      -- The trigger books the payment.
      update invoices set paid_minor = total_minor - credited_minor - written_off_minor
      from page
      where tenant_id = (invoice).tenant_id and id = (invoice).id and status = 'PAID'
        and paid_minor + credited_minor + written_off_minor < total_minor
    ), booked as (
      select book_invoice(invoice) from page where (invoice).status in ('FINALIZED', 'VOID') or (invoice).total_minor = 0
    )
    select (invoice).tenant_id, (invoice).id into tenant, last
    from page, (select count(*) from booked) b order by 1 desc, 2 desc limit 1;
    exit when not found;
    commit;
  end loop;
end $$;
