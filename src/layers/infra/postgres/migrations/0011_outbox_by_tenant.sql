-- Tenants take turns in the relay, each in the order of its own events.
create index outbox_of_tenant on outbox (tenant_id, entry);
