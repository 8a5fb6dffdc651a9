-- no transaction

-- An invoice that is void and credited stays without the sum: it is wrong already, and nothing more can be credited. A sum
-- beyond the net of its invoice counts as the net.
-- accepted: each batch is committed by itself, and going through all of it again changes nothing
do $$
declare
  tenant  text := '';
  last    text := '';
  to_tenant text;
  to_last   text;
begin
  loop
    select tenant_id, invoice_id into to_tenant, to_last from (
      select tenant_id, invoice_id from invoice_credits where (tenant_id, invoice_id) > (tenant, last)
      order by tenant_id, invoice_id limit 1000
    ) page order by tenant_id desc, invoice_id desc limit 1;
    exit when to_tenant is null;
    -- The sums are read after the locks: a note that is finalized meanwhile adds to them.
    perform 1 from invoice_credits credits join invoices on invoices.tenant_id = credits.tenant_id and id = invoice_id
    where (credits.tenant_id, invoice_id) > (tenant, last) and (credits.tenant_id, invoice_id) <= (to_tenant, to_last)
    order by credits.tenant_id, invoice_id for no key update of invoices;
    update invoices
    set credited_net_minor = greatest(least(subtotal_minor - discount_minor, 0),
      least(greatest(subtotal_minor - discount_minor, 0), credited.minor))
    from invoice_credits credits cross join lateral (
      select sum(note.subtotal_minor - note.discount_minor) as minor from credit_notes note
      where note.tenant_id = credits.tenant_id and note.invoice_id = credits.invoice_id and note.status = 'FINALIZED'
    ) credited
    where (credits.tenant_id, credits.invoice_id) > (tenant, last)
      and (credits.tenant_id, credits.invoice_id) <= (to_tenant, to_last)
      and invoices.tenant_id = credits.tenant_id and invoices.id = credits.invoice_id and invoices.status <> 'VOID';
    commit;
    tenant := to_tenant;
    last := to_last;
  end loop;
end $$;

-- What became of an upload whose file has an identifier is not certain, unless it was delivered.
-- accepted: each batch is committed by itself, and going through all of it again changes nothing
do $$
declare
  tenant text := '';
  last   text := '';
begin
  loop
    with page as materialized (
      select tenant_id, delivery_id from delivery_files where (tenant_id, delivery_id) > (tenant, last)
      order by tenant_id, delivery_id limit 1000
    ), proven as (
      insert into invoice_uploads (tenant_id, delivery_id, attempt, integration_id, invoice_id, started_at, stored_at)
      select page.tenant_id, delivery_id, attempts, integration_id, resource_id, created_at, delivered_at
      from page join deliveries on deliveries.tenant_id = page.tenant_id and id = delivery_id
      on conflict do nothing
    )
    select tenant_id, delivery_id into tenant, last from page order by tenant_id desc, delivery_id desc limit 1;
    exit when not found;
    commit;
  end loop;
end $$;

alter table invoices validate constraint invoices_credited_net;
