-- Counts the events that tell of changes of the series.
alter table invoice_series add column sequence integer not null default 0;
