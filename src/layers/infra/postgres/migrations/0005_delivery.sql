-- Events are only ever added. What still has to be done with one lies beside it, in rows small enough to be moved often.

-- Events nobody has looked at yet, in the order they were added: of one resource that is the order of its sequence,
-- since each event is added after the one before was committed. Rows come from the trigger below alone, which is why no
-- foreign key looks each of them up again.
create table outbox (
  tenant_id   text not null,
  event_id    text not null,
  resource_id text not null,
  sequence    integer not null,
  entry       bigint generated always as identity,
  primary key (tenant_id, event_id)
);
create index outbox_in_order on outbox (entry);

-- No event without its row in the outbox, whoever adds it.
create function remember_events() returns trigger language plpgsql as $$
begin
  insert into outbox (tenant_id, event_id, resource_id, sequence)
  select tenant_id, id, resource_id, sequence from added order by resource_id, sequence;
  return null;
end $$;
create trigger remember_events after insert on events referencing new table as added
  for each statement execute function remember_events();

insert into outbox (tenant_id, event_id, resource_id, sequence)
select tenant_id, id, resource_id, sequence from events order by occurred_at, sequence;

-- The positions events are read in. They are given after the commit, by one at a time, so that nobody who reads on from
-- a position misses what is committed late. An event is fanned out when it is known who is to be told of it.
create table event_feed (
  tenant_id   text not null,
  position    bigint not null,
  event_id    text not null,
  resource_id text not null,
  sequence    integer not null,
  placed_at   timestamptz(3) not null default now(),
  fanned_out  boolean not null default false,
  primary key (tenant_id, position),
  constraint event_feed_event_id_key unique (tenant_id, event_id),
  constraint event_feed_event_id_fkey foreign key (tenant_id, event_id) references events (tenant_id, id) on delete cascade
);
create index event_feed_waiting on event_feed (position) where not fanned_out;
create index event_feed_waiting_of_resource on event_feed (tenant_id, resource_id, sequence) where not fanned_out;

-- The last position given. Whoever gives the next holds this row.
create table event_positions (last bigint not null);
insert into event_positions values (0);

create index events_by_age on events (occurred_at);

create table integrations (
  tenant_id     text not null references tenants (id),
  id            text not null,
  provider      text not null check (provider in ('JIRA', 'GOOGLE_DRIVE', 'WEBHOOK', 'NATS')),
  name          text not null,
  status        text not null check (status in ('PENDING_AUTH', 'ACTIVE', 'PAUSED', 'ERROR')),
  status_reason text,
  is_authorized boolean not null,
  config        json not null,
  subscriptions json not null,
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null,
  sequence      integer not null,
  -- Since when nothing but failures came of what was sent.
  failing_since timestamptz(3),
  primary key (tenant_id, id)
);
create index integrations_failing on integrations (failing_since) where failing_since is not null;

-- What signs deliveries. The newest signs; one that was replaced signs beside it until it expires.
create table integration_secrets (
  tenant_id      text not null,
  integration_id text not null,
  generation     integer not null,
  sealed         bytea not null,
  expires_at     timestamptz(3),
  primary key (tenant_id, integration_id, generation),
  constraint integration_secrets_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);

-- Shown as a part of their integration; here for who looks for those an event concerns.
create table subscriptions (
  tenant_id      text not null,
  id             text not null,
  integration_id text not null,
  event_type     text not null,
  scope_key      text not null,
  client_id      text,
  primary key (tenant_id, id),
  constraint subscriptions_event_type_key unique (tenant_id, integration_id, event_type, scope_key),
  constraint subscriptions_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade,
  constraint subscriptions_client_id_fkey foreign key (tenant_id, client_id) references clients (tenant_id, id)
);
create index subscriptions_of_client on subscriptions (tenant_id, client_id) where client_id is not null;

-- One row for each event and each integration that is told of it. Of one resource and one integration, only the first
-- that is not finished is PENDING; those behind it are WAITING.
create table deliveries (
  tenant_id       text not null,
  id              text not null,
  integration_id  text not null,
  event_id        text not null,
  event_type      text not null,
  resource_id     text not null,
  sequence        integer not null,
  status          text not null check (status in ('WAITING', 'PENDING', 'DELIVERED', 'EXHAUSTED')),
  attempts        integer not null default 0,
  -- Attempts made before it was sent again on demand: the schedule starts anew there.
  spent           integer not null default 0,
  next_attempt_at timestamptz(3),
  -- Who sends it at the moment, and until when that is believed.
  lease           text,
  leased_until    timestamptz(3),
  response_status integer,
  error           text,
  delivered_at    timestamptz(3),
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  primary key (tenant_id, id),
  constraint deliveries_event_id_key unique (tenant_id, integration_id, event_id),
  constraint deliveries_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade,
  constraint deliveries_event_id_fkey foreign key (tenant_id, event_id) references events (tenant_id, id) on delete cascade
);
create index deliveries_due on deliveries (tenant_id, integration_id, next_attempt_at) where status = 'PENDING';
create index deliveries_in_flight on deliveries (tenant_id, integration_id) where lease is not null;
create index deliveries_in_lane on deliveries (tenant_id, integration_id, resource_id, sequence)
  where status in ('WAITING', 'PENDING');
create index deliveries_of_integration on deliveries (tenant_id, integration_id, id);
create index deliveries_of_event on deliveries (tenant_id, event_id);

create table delivery_attempts (
  tenant_id       text not null,
  delivery_id     text not null,
  number          integer not null,
  attempted_at    timestamptz(3) not null,
  outcome         text not null check (outcome in ('DELIVERED', 'FAILED', 'LOST')),
  latency_ms      integer,
  response_status integer,
  response_body   text,
  error           text,
  primary key (tenant_id, delivery_id, number),
  constraint delivery_attempts_delivery_id_fkey foreign key (tenant_id, delivery_id)
    references deliveries (tenant_id, id) on delete cascade
);

-- Who does what only one process may do, and until when that is believed.
create table leases (
  name   text primary key,
  holder text not null,
  until  timestamptz(3) not null
);

create index delivery_attempts_told on delivery_attempts (attempted_at)
  where response_body is not null or error is not null;
create index integration_secrets_expiring on integration_secrets (expires_at) where expires_at is not null;
