-- Begins what a request sends first. It fails unless the caller is a member of the tenant with one of the roles, and
-- PostgreSQL then skips the rest.
create function require_member(in_tenant text, by_issuer text, by_subject text, with_roles text[]) returns void
language plpgsql stable as $$
begin
  perform from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
    where m.tenant_id = in_tenant and m.issuer = by_issuer and m.subject = by_subject and m.role = any (with_roles);
  if not found then
    raise exception 'the caller is not a member with the role' using errcode = 'CT403';
  end if;
end $$;
