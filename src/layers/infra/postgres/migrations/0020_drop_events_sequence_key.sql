-- events_of_resource keeps this rule.
alter table events drop constraint if exists events_sequence_key;
