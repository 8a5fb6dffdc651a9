-- The page of an issued invoice for its client. Who has the token opens it, without logging in. Look-ups use the hash;
-- the sealed token repeats the link in mails. A revoked link has neither.
create table invoice_links (
  tenant_id  text not null,
  invoice_id text not null,
  token_hash bytea,
  sealed     bytea,
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  -- The first opening, with any token: rotating the token does not make it the first again.
  viewed_at  timestamptz(3),
  primary key (tenant_id, invoice_id),
  foreign key (tenant_id, invoice_id) references invoices (tenant_id, id),
  check ((token_hash is null) = (sealed is null) and (token_hash is null) = (revoked_at is not null))
);
create unique index invoice_links_by_token on invoice_links (token_hash);
