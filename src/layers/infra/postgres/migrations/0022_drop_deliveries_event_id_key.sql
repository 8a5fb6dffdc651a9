-- deliveries_once keeps this rule.
alter table deliveries drop constraint if exists deliveries_event_id_key;
