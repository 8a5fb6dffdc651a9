-- The integrations that have something to be sent, in the order in which they are due, so that a worker that looks for
-- what is due reads nothing else. No delivery that is PENDING is due before its queue: a queue may be due too early, in
-- which case the claim that finds nothing puts it right. Who makes a delivery due earlier locks the queue, and so
-- does the claim that makes the queue due later: neither misses what the other does. 'infinity' is for integrations that
-- are not ACTIVE: their queue is due again when they are resumed.
create table delivery_queues (
  tenant_id      text not null,
  integration_id text not null,
  due_at         timestamptz not null,
  -- What was known of the receiver at the last claim: those who wait for one kind do not hide the others.
  pool           text not null default 'NEW' check (pool in ('PROVEN', 'NEW', 'SLOW')),
  primary key (tenant_id, integration_id),
  constraint delivery_queues_integration_id_fkey foreign key (tenant_id, integration_id)
    references integrations (tenant_id, id) on delete cascade
);
create index delivery_queues_due on delivery_queues (pool, due_at);

-- Triggers keep the queues, whichever release writes. What was due long ago is due now: queues take turns.
create function queue_added_deliveries() returns trigger language plpgsql as $$
begin
  insert into delivery_queues as queue (tenant_id, integration_id, due_at)
  select tenant_id, integration_id, greatest(min(next_attempt_at), now())
  from added where status = 'PENDING' and next_attempt_at is not null
  group by tenant_id, integration_id order by tenant_id, integration_id
  on conflict (tenant_id, integration_id) do update set due_at = excluded.due_at
  where queue.due_at > excluded.due_at and queue.due_at < 'infinity';
  return null;
end $$;
create trigger queue_added_deliveries after insert on deliveries referencing new table as added
  for each statement execute function queue_added_deliveries();

-- Only what is due earlier than before matters.
create function queue_changed_deliveries() returns trigger language plpgsql as $$
begin
  insert into delivery_queues as queue (tenant_id, integration_id, due_at)
  select tenant_id, changed.integration_id, greatest(min(changed.next_attempt_at), now())
  from changed join former using (tenant_id, id)
  where changed.status = 'PENDING' and changed.next_attempt_at is not null
    and (former.status <> 'PENDING' or former.next_attempt_at is null or former.next_attempt_at > changed.next_attempt_at)
  group by tenant_id, changed.integration_id order by tenant_id, changed.integration_id
  on conflict (tenant_id, integration_id) do update set due_at = excluded.due_at
  where queue.due_at > excluded.due_at and queue.due_at < 'infinity';
  return null;
end $$;
create trigger queue_changed_deliveries after update on deliveries referencing old table as former new table as changed
  for each statement execute function queue_changed_deliveries();

create function queue_resumed_integration() returns trigger language plpgsql as $$
begin
  update delivery_queues set due_at = now()
  where tenant_id = new.tenant_id and integration_id = new.id and due_at = 'infinity';
  return null;
end $$;
create trigger queue_resumed_integration after update on integrations
  for each row when (new.status = 'ACTIVE' and old.status <> 'ACTIVE') execute function queue_resumed_integration();

-- Rows of queues come and go all the time. With the usual settings, dead rows and old statistics stay until a fifth of
-- the table has changed, of which history is the largest part.
alter table outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);
alter table delivery_queues set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);
alter table event_feed set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.01,
  autovacuum_analyze_threshold = 500);
alter table deliveries set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.01,
  autovacuum_analyze_threshold = 500);
alter table delivery_attempts set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
  autovacuum_analyze_threshold = 500);
alter table events set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
  autovacuum_analyze_threshold = 500);
