-- no transaction
-- The one of a lane that is sent is looked up, wherever in the lane it is.
create index concurrently if not exists deliveries_sent_of_lane on deliveries (tenant_id, integration_id, resource_id) where status = 'PENDING';
