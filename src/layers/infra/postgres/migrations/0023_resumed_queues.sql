-- A resume waits for the claim that is about to set its queue to 'infinity'. With a condition on due_at it saw the row
-- as it was before that claim, changed nothing, and the queue of an ACTIVE integration stayed at 'infinity'.
create or replace function queue_resumed_integration() returns trigger language plpgsql as $$
begin
  update delivery_queues set due_at = now() where tenant_id = new.tenant_id and integration_id = new.id;
  return null;
end $$;

-- accepted: replacing a function locks no table, and there is a row for each integration that is not ACTIVE
update delivery_queues set due_at = now() where due_at = 'infinity';
