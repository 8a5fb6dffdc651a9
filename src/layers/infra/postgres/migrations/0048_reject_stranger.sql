-- Fails what a request sends first if the caller is no member of the tenant: PostgreSQL then skips the rest. The look-up
-- itself is not part of the function, which would take twice as long.
create function reject_stranger() returns boolean language plpgsql as $$
begin
  raise exception 'the caller is not a member with the role' using errcode = 'CT403';
end $$;
