-- The bytes of images, once for each tenant whatever number of assets has them. Where they lie is up to the store:
-- in the table of chunks below, or outside.
create table blobs (
  tenant_id  text not null references tenants (id),
  digest     text not null,
  place      text not null,
  size_bytes bigint not null check (size_bytes > 0),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, digest)
);

-- Every place something was written to that is no blob yet, so that what a crash leaves behind is found again.
create table uploads (
  tenant_id  text not null references tenants (id),
  place      text not null,
  started_at timestamptz(3) not null default now(),
  primary key (tenant_id, place)
);
create index uploads_started on uploads (started_at);

create table blob_chunks (
  tenant_id text not null,
  place     text not null,
  n         integer not null,
  bytes     bytea not null,
  primary key (tenant_id, place, n)
);
-- Images are compressed already.
alter table blob_chunks alter column bytes set storage external;

create table assets (
  tenant_id          text not null references tenants (id),
  id                 text not null,
  kind               text not null check (kind in ('BRANDING_LOGO', 'BRANDING_BACKGROUND')),
  access             text not null check (access in ('PUBLIC', 'SIGNED')),
  source             text not null check (source in ('USER_UPLOAD', 'GENERATED')),
  status             text not null check (status in ('PENDING', 'READY', 'FAILED')),
  content_type       text not null,
  original_file_name text,
  size_bytes         bigint,
  etag               text,
  created_at         timestamptz(3) not null,
  updated_at         timestamptz(3) not null,
  sequence           integer not null,
  digest             text,
  primary key (tenant_id, id),
  check (status <> 'READY' or (digest is not null and etag is not null and size_bytes is not null)),
  constraint assets_digest_fkey foreign key (tenant_id, digest) references blobs (tenant_id, digest)
);
-- An image is asked for by its asset's identifier alone.
create index assets_by_id on assets (id);
create index assets_of_blob on assets (tenant_id, digest);
create index assets_unfinished on assets (updated_at) where status <> 'READY';

create table attachments (
  tenant_id text not null references tenants (id),
  id        text not null,
  client_id text,
  slot      text not null,
  asset_id  text not null,
  primary key (tenant_id, id),
  constraint attachments_slot_key unique nulls not distinct (tenant_id, client_id, slot),
  constraint attachments_asset_id_fkey foreign key (tenant_id, asset_id) references assets (tenant_id, id),
  constraint attachments_client_id_fkey
    foreign key (tenant_id, client_id) references clients (tenant_id, id) on delete cascade
);
create index attachments_of_asset on attachments (tenant_id, asset_id);

-- What hangs on a tenant or client, as it is shown: an image that hangs cannot change, so this cannot grow stale.
alter table tenants add column media json not null default '[]';
alter table clients add column media json not null default '[]';

-- The images on an issued invoice, which stay whatever becomes of the assets they came from.
create table invoice_images (
  tenant_id    text not null,
  invoice_id   text not null,
  role         text not null,
  digest       text not null,
  content_type text not null,
  primary key (tenant_id, invoice_id, role),
  constraint invoice_images_invoice_id_fkey foreign key (tenant_id, invoice_id) references invoices (tenant_id, id),
  constraint invoice_images_digest_fkey foreign key (tenant_id, digest) references blobs (tenant_id, digest)
);
create index invoice_images_of_blob on invoice_images (tenant_id, digest);
