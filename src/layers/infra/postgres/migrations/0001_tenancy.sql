-- Every table of a tenant starts its primary key with the tenant, so that no key, reference or look-up can cross
-- from one tenant to another, and a table can be spread over machines by tenant.

create table tenants (
  id          text primary key,
  name        text not null,
  description text,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  deleted_at  timestamptz(3),
  sequence    integer not null
);
create index tenants_deleted on tenants (deleted_at) where deleted_at is not null;

create table members (
  tenant_id  text not null references tenants (id),
  id         text not null,
  issuer     text not null,
  subject    text not null,
  role       text not null check (role in ('VIEWER', 'MEMBER', 'ADMIN', 'OWNER')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  sequence   integer not null,
  primary key (tenant_id, id),
  constraint members_subject_key unique (tenant_id, issuer, subject)
);
create index members_of_principal on members (issuer, subject, tenant_id);

create table clients (
  tenant_id   text not null references tenants (id),
  id          text not null,
  name        text not null,
  description text,
  "order"     bigint,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  sequence    integer not null,
  primary key (tenant_id, id)
);
-- Lists go by order, those without one last, then by id; 2^63-1 stands for "without one".
create index clients_in_order on clients (tenant_id, (coalesce("order", 9223372036854775807)), id);

-- What happened, written in the transaction that did it. The snapshot is text as the API shows the resource,
-- so that whoever is told, and however often, reads the same bytes.
create table events (
  tenant_id   text not null,
  id          text not null,
  type        text not null,
  resource_id text not null,
  client_id   text,
  sequence    integer not null,
  occurred_at timestamptz(3) not null,
  data        json not null,
  primary key (tenant_id, id),
  constraint events_sequence_key unique (tenant_id, resource_id, sequence)
);

-- A claimed key and the answer it earned. The answer may hold a secret, so it is kept encrypted.
create table idempotency_keys (
  tenant_id   text not null,
  issuer      text not null,
  subject     text not null,
  route       text not null,
  key         text not null,
  fingerprint bytea not null,
  answer      bytea,
  claimed_at  timestamptz(3) not null default now(),
  primary key (tenant_id, issuer, subject, route, key)
);
create index idempotency_keys_claimed on idempotency_keys (claimed_at);
