-- event_feed_of_event keeps this rule.
alter table event_feed drop constraint if exists event_feed_event_id_key;
