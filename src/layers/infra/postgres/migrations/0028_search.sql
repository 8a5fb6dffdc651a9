-- Both extensions are trusted: the owner of the database can create them.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;
