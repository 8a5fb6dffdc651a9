-- no transaction

-- accepted: each batch is committed by itself, and going through all of it again changes nothing
do $$
declare
  tenant text := '';
  last   text := '';
begin
  loop
    with page as materialized (
      select tenant_id, id, contract_id from invoices
      where (tenant_id, id) > (tenant, last) order by tenant_id, id limit 5000
    ), filled as (
      update invoices set client_id = contracts.client_id
      from page join contracts on contracts.tenant_id = page.tenant_id and contracts.id = page.contract_id
      where invoices.tenant_id = page.tenant_id and invoices.id = page.id and invoices.client_id is null
    )
    select page.tenant_id, page.id into tenant, last from page order by page.tenant_id desc, page.id desc limit 1;
    exit when not found;
    commit;
  end loop;
end $$;

create index concurrently if not exists invoices_of_client on invoices (tenant_id, client_id, id);
create index concurrently if not exists invoices_by_issue
  on invoices (tenant_id, (coalesce(issued_at, 'infinity'::timestamptz)), id);
create index concurrently if not exists invoices_by_due_date
  on invoices (tenant_id, (coalesce(due_at, 'infinity'::timestamptz)), id);
