-- The subject of the user that caused an event. Null for workers, and for events of earlier releases.
alter table events add column created_by text;
