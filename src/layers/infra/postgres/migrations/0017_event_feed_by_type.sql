-- no transaction

-- accepted: each batch is committed by itself, and going through all of it again changes nothing
do $$
declare
  tenant text := '';
  place  bigint := 0;
begin
  loop
    with page as materialized (
      select tenant_id, position, event_id from event_feed
      where (tenant_id, position) > (tenant, place) order by tenant_id, position limit 5000
    ), filled as (
      update event_feed feed set type = events.type
      from page join events on events.tenant_id = page.tenant_id and events.id = page.event_id
      where feed.tenant_id = page.tenant_id and feed.position = page.position and feed.type is null
    )
    select page.tenant_id, page.position into tenant, place
    from page order by page.tenant_id desc, page.position desc limit 1;
    exit when not found;
    commit;
  end loop;
end $$;

create index concurrently if not exists event_feed_by_type on event_feed (tenant_id, type, position);
