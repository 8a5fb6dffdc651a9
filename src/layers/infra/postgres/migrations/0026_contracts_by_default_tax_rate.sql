-- no transaction
create index concurrently if not exists contracts_by_default_tax_rate on contracts using gin (default_tax_rates)
  where default_tax_rates is not null;
