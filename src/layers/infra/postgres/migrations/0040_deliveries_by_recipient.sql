-- no transaction
create unique index concurrently if not exists deliveries_once_per_recipient on deliveries (event_id, integration_id, tenant_id, coalesce(recipient, ''));
drop index concurrently if exists deliveries_once;
-- The ordering key includes the recipient. The release before still reads deliveries_lane and deliveries_lane_sent.
create index concurrently if not exists deliveries_ordered on deliveries ((tenant_id || '/' || integration_id || '/' || resource_id || coalesce('/' || recipient, '')), sequence) where status in ('WAITING', 'PENDING');
create index concurrently if not exists deliveries_ordered_pending on deliveries ((tenant_id || '/' || integration_id || '/' || resource_id || coalesce('/' || recipient, ''))) where status = 'PENDING';
alter table deliveries validate constraint deliveries_status_check;
alter table redeliveries validate constraint redeliveries_status_check;
alter table all_integrations validate constraint integrations_provider_check;
