-- Files that are to be drawn in the background, one row for each. It begins with all that were issued before. This comes
-- first: the foreign keys below keep writers of invoices waiting until the transaction ends.
create table invoice_file_queue (
  tenant_id  text not null,
  invoice_id text not null,
  variant    text not null check (variant in ('ISSUED', 'VOID')),
  -- When the next attempt may begin. Claiming a row moves it into the future, which is the lease of the claim.
  due_at     timestamptz(3) not null default now(),
  attempts   integer not null default 0,
  primary key (tenant_id, invoice_id, variant)
) with (autovacuum_vacuum_scale_factor = 0.05);
set local statement_timeout = 0;
insert into invoice_file_queue (tenant_id, invoice_id, variant)
  select tenant_id, id, case status when 'VOID' then 'VOID' else 'ISSUED' end from invoices
  where invoice_number is not null;
create index invoice_file_queue_due on invoice_file_queue (tenant_id, due_at) where attempts < 5;

-- The PDF of an issued invoice, drawn once. A void invoice has another, which is marked.
create table invoice_files (
  tenant_id  text not null,
  invoice_id text not null,
  variant    text not null check (variant in ('ISSUED', 'VOID')),
  digest     text not null,
  size_bytes bigint not null check (size_bytes > 0),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, invoice_id, variant),
  constraint invoice_files_invoice_id_fkey foreign key (tenant_id, invoice_id) references invoices (tenant_id, id),
  constraint invoice_files_digest_fkey foreign key (tenant_id, digest) references blobs (tenant_id, digest)
);
create index invoice_files_of_blob on invoice_files (tenant_id, digest);
