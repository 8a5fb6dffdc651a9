-- A reference always names the tenant with it, so that it cannot lead into another one. Lists go by order, then id,
-- whole or below a parent; the index below the parent is also what a delete of the parent looks into.

create table addresses (
  tenant_id           text not null references tenants (id),
  id                  text not null,
  client_id           text,
  name                text not null,
  address1            text not null,
  address2            text,
  region              text,
  country             text not null,
  city                text not null,
  zip                 text not null,
  registration_number text,
  vat_number          text,
  "order"             bigint,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,
  sequence            integer not null,
  primary key (tenant_id, id),
  constraint addresses_client_id_fkey foreign key (tenant_id, client_id) references clients (tenant_id, id)
);
create index addresses_in_order on addresses (tenant_id, (coalesce("order", 9223372036854775807)), id);
create index addresses_of_client on addresses (tenant_id, client_id, (coalesce("order", 9223372036854775807)), id);

create table contacts (
  tenant_id  text not null,
  id         text not null,
  client_id  text not null,
  name       text not null,
  role       text,
  "order"    bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  sequence   integer not null,
  primary key (tenant_id, id),
  constraint contacts_client_id_fkey foreign key (tenant_id, client_id) references clients (tenant_id, id)
);
create index contacts_in_order on contacts (tenant_id, (coalesce("order", 9223372036854775807)), id);
create index contacts_of_client on contacts (tenant_id, client_id, (coalesce("order", 9223372036854775807)), id);

create table emails (
  tenant_id  text not null,
  id         text not null,
  contact_id text not null,
  address    text not null,
  "order"    bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  sequence   integer not null,
  primary key (tenant_id, id),
  constraint emails_contact_id_fkey foreign key (tenant_id, contact_id) references contacts (tenant_id, id)
);
create index emails_in_order on emails (tenant_id, (coalesce("order", 9223372036854775807)), id);
create index emails_of_contact on emails (tenant_id, contact_id, (coalesce("order", 9223372036854775807)), id);

create table contracts (
  tenant_id         text not null,
  id                text not null,
  client_id         text not null,
  name              text not null,
  description       text,
  status            text not null check (status in ('DRAFT', 'ACTIVE', 'ENDED')),
  currency_code     text not null,
  starts_at         timestamptz(3),
  ends_at           timestamptz(3),
  payment_term_days integer not null check (payment_term_days between 0 and 365),
  cap_minor         bigint check (cap_minor >= 0),
  "order"           bigint,
  created_at        timestamptz(3) not null,
  updated_at        timestamptz(3) not null,
  sequence          integer not null,
  primary key (tenant_id, id),
  check (ends_at > starts_at),
  constraint contracts_client_id_fkey foreign key (tenant_id, client_id) references clients (tenant_id, id)
);
create index contracts_in_order on contracts (tenant_id, (coalesce("order", 9223372036854775807)), id);
create index contracts_of_client on contracts (tenant_id, client_id, (coalesce("order", 9223372036854775807)), id);

create table projects (
  tenant_id   text not null,
  id          text not null,
  contract_id text not null,
  name        text not null,
  description text,
  "order"     bigint,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  sequence    integer not null,
  primary key (tenant_id, id),
  constraint projects_contract_id_fkey foreign key (tenant_id, contract_id) references contracts (tenant_id, id)
);
create index projects_in_order on projects (tenant_id, (coalesce("order", 9223372036854775807)), id);
create index projects_of_contract on projects (tenant_id, contract_id, (coalesce("order", 9223372036854775807)), id);
-- A project is also read by its identifier alone; whose it is, is told by the tenant it is found in.
create index projects_by_id on projects (id);
