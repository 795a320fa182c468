-- Wrong passwords, so that all cells together let nobody guess on. A row is one account as seen from one network; which, only
-- its hash tells: names that are no account's are kept alike.
create table login_failure (
  key bytea primary key,
  failures integer not null,
  last_at timestamptz not null,
  -- Nothing is tried before.
  until timestamptz not null
);
create index login_failure_last on login_failure (last_at);
grant select, insert, update, delete on login_failure to skerry_system;
