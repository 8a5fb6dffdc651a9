-- What was there before the triggers were.
insert into delivery_queues as queue (tenant_id, integration_id, due_at)
select tenant_id, integration_id, min(next_attempt_at)
from deliveries where status = 'PENDING' and next_attempt_at is not null
group by tenant_id, integration_id order by tenant_id, integration_id
on conflict (tenant_id, integration_id) do update set due_at = least(queue.due_at, excluded.due_at);
