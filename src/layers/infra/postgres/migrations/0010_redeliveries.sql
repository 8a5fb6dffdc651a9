-- An event that concerns many integrations is fanned out in steps, in the order of their ids: this is the last one
-- entered so far. It is null while nothing was entered, and once all of them were.
alter table event_feed add column fanned_to text;

-- Whom an event concerns is looked up by its type and client, so that others' subscriptions cost nothing.
create index subscriptions_by_type on subscriptions (tenant_id, event_type, coalesce(client_id, ''), integration_id);

-- Requests to send many deliveries again that were too large to be done before they were answered. A worker takes them
-- further in small steps, each of which moves after_id on, and deletes the row with the last step. Deliveries are walked
-- by id, which sorts by time; last_id is the newest there was when the request came.
create table redeliveries (
  tenant_id      text not null,
  id             text not null,
  integration_id text not null,
  since          timestamptz not null,
  until          timestamptz not null,
  status         text check (status in ('DELIVERED', 'EXHAUSTED')),
  after_id       text not null,
  last_id        text not null,
  count          bigint not null,
  created_at     timestamptz(3) not null,
  -- When its next step is due: later than the others' of the tenant after each step, and later still if that failed.
  due_at         timestamptz(3) not null,
  primary key (tenant_id, id),
  constraint redeliveries_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
create index redeliveries_in_turn on redeliveries (tenant_id, due_at);
create index redeliveries_of_integration on redeliveries (tenant_id, integration_id);
