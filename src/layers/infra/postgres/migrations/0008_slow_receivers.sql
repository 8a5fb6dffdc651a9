-- What is known of how quickly an integration's receiver answers: nothing yet (null), PROVEN to be quick, or SLOW.
alter table integrations add column latency_class text check (latency_class in ('PROVEN', 'SLOW'));
create index integrations_slow on integrations (tenant_id, id) where latency_class = 'SLOW';
