-- no transaction
-- While statistics know nothing of a burst, PostgreSQL takes all indexes that begin with the same column for equally
-- good, and those that were empty for free to read: it may read a tenant's whole backlog to look one row up. So each
-- question has one index that can answer it. None but the primary key begins with the tenant where it need not, a lane
-- is one value that is compared as a whole, and who does not ask for an order finds no index that is kept for it.
-- Workers of the release before claim and look lanes up slowly without the indexes that are dropped here: replace them
-- soon after migrating. Kept until a later release, these indexes would mislead the planner until then.
create unique index concurrently if not exists events_of_resource on events (resource_id, sequence, tenant_id);

create unique index concurrently if not exists event_feed_of_event on event_feed (event_id, tenant_id);
create index concurrently if not exists event_feed_of_type on event_feed (type, tenant_id, position);
drop index concurrently if exists event_feed_by_type;
create index concurrently if not exists event_feed_unfinished on event_feed (position) where not fanned_out and position > 0;
drop index concurrently if exists event_feed_waiting;

create unique index concurrently if not exists deliveries_once on deliveries (event_id, integration_id, tenant_id);
drop index concurrently if exists deliveries_of_event;
create index concurrently if not exists deliveries_to_integration on deliveries (integration_id, tenant_id, id);
drop index concurrently if exists deliveries_of_integration;
create index concurrently if not exists deliveries_leased on deliveries (integration_id, tenant_id) where lease is not null;
drop index concurrently if exists deliveries_in_flight;
create index concurrently if not exists deliveries_next on deliveries (integration_id, tenant_id, next_attempt_at) where status = 'PENDING' and next_attempt_at is not null;
drop index concurrently if exists deliveries_due;
create index concurrently if not exists deliveries_lane on deliveries ((tenant_id || '/' || integration_id || '/' || resource_id), sequence) where status in ('WAITING', 'PENDING');
create index concurrently if not exists deliveries_lane_sent on deliveries ((tenant_id || '/' || integration_id || '/' || resource_id)) where status = 'PENDING';
drop index concurrently if exists deliveries_in_lane;
drop index concurrently if exists deliveries_sent_of_lane;
