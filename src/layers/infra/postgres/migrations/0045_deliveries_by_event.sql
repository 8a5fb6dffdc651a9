-- no transaction
-- All columns of the foreign key to events come first. With the integration between them, the planner of PostgreSQL 18
-- expects a search of the index for every integration there is, and reads all deliveries of the tenant instead.
create unique index concurrently if not exists deliveries_by_event on deliveries (event_id, tenant_id, integration_id, coalesce(recipient, ''));
drop index concurrently if exists deliveries_once_per_recipient;
