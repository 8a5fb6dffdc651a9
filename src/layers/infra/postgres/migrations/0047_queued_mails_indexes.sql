-- no transaction
-- Their condition is that of quotas alone, so that no other statement can take them for its own index while they are empty.
create index concurrently if not exists deliveries_shared_mails on deliveries (tenant_id) where shared_mail_by is not null and status not in ('DELIVERED', 'EXHAUSTED', 'UNCERTAIN');
create index concurrently if not exists deliveries_shared_mails_of_caller on deliveries (shared_mail_by) where shared_mail_by is not null and status not in ('DELIVERED', 'EXHAUSTED', 'UNCERTAIN');
