-- Deleting an integration marks it; the janitor removes what it leaves behind in small batches, and then the row. The
-- view has the name of the table, so that no statement, of this release or the one before, sees an integration that is
-- marked. Foreign keys go on referring to the table. A column that is added to it later is added to the view as well.
-- accepted: a view takes the name in the same transaction
alter table integrations rename to all_integrations;
alter table all_integrations add column deleted_at timestamptz(3);
-- accepted: there are few integrations
create index all_integrations_deleted on all_integrations (deleted_at) where deleted_at is not null;
create view integrations as select * from all_integrations where deleted_at is null;
