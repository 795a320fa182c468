-- Fencing tokens: they order claims, sessions and incarnations. A token is the era times 2^40, plus a counter.
-- A token may be used only after the transaction that drew it has committed: a crash before may issue it again.
create sequence fence_counter as bigint maxvalue 1099511627775 no cycle;

-- What `skerry cloud recover` adds to the timeline, because a restored dump begins at timeline 1 again.
create table fence_era (
  single boolean primary key default true check (single),
  raised bigint not null default 0 check (raised >= 0)
);
insert into fence_era default values;

-- The timeline in the name of the WAL file that is being written. pg_control_checkpoint() would still return the old one for
-- some time after a promotion.
create function current_era() returns bigint language sql volatile
  return (
    select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint + raised from fence_era
  );

create function next_fence() returns bigint language sql volatile
  return current_era() * 1099511627776 + nextval('fence_counter');
