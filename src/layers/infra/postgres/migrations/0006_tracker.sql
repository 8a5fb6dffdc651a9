-- What others let us do in their systems. Whatever opens something there is sealed, and bound to its row.

-- One authorization that was begun: who began it, for which integration, and where the page that asked for it is.
create table oauth_states (
  tenant_id      text not null,
  hash           bytea not null,
  integration_id text not null,
  provider       text not null,
  issuer         text not null,
  subject        text not null,
  origin         text not null,
  verifier       bytea not null,
  expires_at     timestamptz(3) not null,
  consumed_at    timestamptz(3),
  primary key (tenant_id, hash),
  constraint oauth_states_hash_key unique (hash),
  constraint oauth_states_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
create index oauth_states_expiring on oauth_states (expires_at);

-- Consent that somebody gave, waiting for the one who began to say that it was himself.
create table pending_grants (
  tenant_id      text not null,
  hash           bytea not null,
  integration_id text not null,
  issuer         text not null,
  subject        text not null,
  sealed         bytea not null,
  expires_at     timestamptz(3) not null,
  primary key (tenant_id, hash),
  constraint pending_grants_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
create index pending_grants_expiring on pending_grants (expires_at);

create table grants (
  tenant_id      text not null,
  integration_id text not null,
  -- Counts up with every new pair of tokens, so that a late writer overwrites nothing newer.
  generation     integer not null,
  scopes         text not null,
  site_id        text,
  site_url       text,
  access         bytea not null,
  refresh        bytea,
  expires_at     timestamptz(3) not null,
  created_at     timestamptz(3) not null default now(),
  updated_at     timestamptz(3) not null default now(),
  primary key (tenant_id, integration_id),
  constraint grants_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);

-- Where a tracker's webhooks come in. The key is looked up by its hash, and sealed to be registered again.
create table webhook_endpoints (
  tenant_id      text not null,
  integration_id text not null,
  key_hash       bytea not null,
  sealed         bytea not null,
  expires_at     timestamptz(3),
  created_at     timestamptz(3) not null default now(),
  primary key (tenant_id, integration_id, key_hash),
  constraint webhook_endpoints_key_hash_key unique (key_hash),
  constraint webhook_endpoints_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
create index webhook_endpoints_expiring on webhook_endpoints (expires_at) where expires_at is not null;

-- What was registered with a tracker. An endpoint may be shared by integrations of one site: the numbers tell them apart.
create table tracker_webhooks (
  tenant_id      text not null,
  integration_id text not null,
  webhook_id     bigint not null,
  site_id        text not null,
  key_hash       bytea not null,
  expires_at     timestamptz(3) not null,
  primary key (tenant_id, integration_id, webhook_id),
  constraint tracker_webhooks_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
create index tracker_webhooks_of_endpoint on tracker_webhooks (key_hash, webhook_id);
create index tracker_webhooks_expiring on tracker_webhooks (expires_at);

-- Every webhook as it came in, once for each integration it concerns. Its body is kept for a while after it was worked.
create table inbound_webhooks (
  tenant_id      text not null,
  id             text not null,
  integration_id text not null,
  identifier     text not null,
  kind           text not null,
  issue_id       text not null,
  issue_key      text not null,
  happened_at    bigint not null,
  body           text,
  status         text not null check (status in ('RECEIVED', 'DONE', 'STALE', 'FAILED')),
  attempts       integer not null default 0,
  error          text,
  received_at    timestamptz(3) not null,
  processed_at   timestamptz(3),
  primary key (tenant_id, id),
  check (body is not null or status <> 'RECEIVED'),
  constraint inbound_webhooks_identifier_key unique (tenant_id, integration_id, identifier),
  constraint inbound_webhooks_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
-- What waits is found issue by issue, whatever waits besides for integrations that are paused.
create index inbound_webhooks_waiting on inbound_webhooks (tenant_id, integration_id, issue_id, happened_at)
  include (received_at) where status = 'RECEIVED';
create index inbound_webhooks_of_integration on inbound_webhooks (tenant_id, integration_id, id);
create index inbound_webhooks_worked on inbound_webhooks (processed_at) where status <> 'RECEIVED';
create index inbound_webhooks_in_full on inbound_webhooks (processed_at)
  where status <> 'RECEIVED' and body is not null;

-- The tracker's issues as far as webhooks told of them. One that was deleted stays, to keep what comes late from
-- bringing it back.
create table tracked_issues (
  tenant_id      text not null,
  id             text not null,
  integration_id text not null,
  external_id    text not null,
  issue_key      text not null,
  project_key    text not null,
  title          text,
  state          text,
  url            text,
  is_deleted     boolean not null,
  happened_at    bigint not null,
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  sequence       integer not null,
  primary key (tenant_id, id),
  constraint tracked_issues_external_id_key unique (tenant_id, integration_id, external_id),
  constraint tracked_issues_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
create index tracked_issues_of_integration on tracked_issues (tenant_id, integration_id, id);
create index tracked_issues_by_key on tracked_issues (tenant_id, integration_id, issue_key);

-- The file a delivery to a drive becomes, chosen before it is sent.
create table delivery_files (
  tenant_id   text not null,
  delivery_id text not null,
  file_id     text not null,
  primary key (tenant_id, delivery_id),
  constraint delivery_files_delivery_id_fkey foreign key (tenant_id, delivery_id)
    references deliveries (tenant_id, id) on delete cascade
);
