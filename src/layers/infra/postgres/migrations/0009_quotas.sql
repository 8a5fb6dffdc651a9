-- Whether a blob is an image a caller uploaded. The PDFs the service draws do not count against the quota on those.
alter table blobs add column is_image boolean not null default true;

-- The bytes of a tenant's images in sum, so that the quota on them costs the same however many there are. Triggers keep
-- it, whichever release writes.
create table blob_usage (
  tenant_id text primary key references tenants (id),
  bytes     bigint not null
);

create function add_blob_usage() returns trigger language plpgsql as $$
begin
  insert into blob_usage as usage (tenant_id, bytes)
  select tenant_id, sum(size_bytes) from added where is_image group by tenant_id
  on conflict (tenant_id) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end $$;
create trigger add_blob_usage after insert on blobs referencing new table as added
  for each statement execute function add_blob_usage();

create function subtract_blob_usage() returns trigger language plpgsql as $$
begin
  update blob_usage usage set bytes = usage.bytes - gone.bytes
  from (select tenant_id, sum(size_bytes) as bytes from removed where is_image group by tenant_id) gone
  where usage.tenant_id = gone.tenant_id;
  return null;
end $$;
create trigger subtract_blob_usage after delete on blobs referencing old table as removed
  for each statement execute function subtract_blob_usage();

-- After the triggers, whose creation keeps writers out until this is committed.
insert into blob_usage (tenant_id, bytes) select tenant_id, sum(size_bytes) from blobs group by tenant_id;

-- The open authorizations of one integration. Both tables are small: their rows live for minutes.
create index oauth_states_of_integration on oauth_states (tenant_id, integration_id, consumed_at, expires_at);
create index pending_grants_of_integration on pending_grants (tenant_id, integration_id, expires_at);
