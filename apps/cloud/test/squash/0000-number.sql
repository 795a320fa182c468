-- Numbers that order claims, sessions and incarnations: the era times 2^40, plus a counter.
-- A number may leave the transaction that drew it only once that has committed: until then a crash may give it out again.
create sequence number_counter as bigint maxvalue 1099511627775 no cycle;

-- What `skerry cloud recover` adds to the timeline, because a restored dump begins at timeline 1 again.
create table number_era (
  single boolean primary key default true check (single),
  raised bigint not null default 0 check (raised >= 0)
);
insert into number_era default values;

-- The timeline as the name of the file that is being written now says it. pg_control_checkpoint() would still name the old one for
-- some time after a promotion.
create function current_era() returns bigint language sql volatile
  return (
    select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint + raised from number_era
  );

create function next_number() returns bigint language sql volatile
  return current_era() * 1099511627776 + nextval('number_counter');
