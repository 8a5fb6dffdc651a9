-- The keys that secrets in this database may be encrypted with, by their ids. No process starts without all of them.
create table secret_keys (
  id       text primary key,
  added_at timestamptz(3) not null default now()
);
