-- Events by month: those of a month that is over are dropped as one table, which costs the same whether it holds a thousand or a
-- hundred million. All queries go through `event`: its policies hold for every part, and no part is granted to anybody.
alter table event rename to event_before;
alter sequence event_seq_seq rename to event_before_seq;
alter index event_in_order rename to event_before_in_order;
alter index event_of_org rename to event_before_of_org;

create table event (
  -- Read only below the oldest open transaction: a serial alone would let a reader pass one by.
  tx xid8 not null default pg_current_xact_id(),
  seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  org uuid,
  kind text collate "C" not null,
  vapp uuid,
  vm uuid,
  task uuid,
  host uuid,
  what jsonb not null default '{}'
) partition by range (at);
create index event_in_order on event (tx, seq);
create index event_of_org on event (org, tx, seq);
select setval('event_seq_seq', greatest(last_value, 1), is_called) from event_before_seq;
alter table event_before alter column seq drop identity;
revoke all on event_before from skerry_tenant, skerry_system;

-- Which part holds what: from `starts` on, and less than `ends`.
create table event_part (
  name text primary key,
  starts timestamptz not null,
  ends timestamptz not null
);
grant select on event_part to skerry_system;

-- What was there before is one part, as it lies: no row is written again. It ends with the month of its newest event.
insert into event_part select 'event_before', '-infinity',
  (date_trunc('month', greatest(coalesce(max(at), clock_timestamp()), clock_timestamp()) at time zone 'UTC')
    + interval '1 month') at time zone 'UTC' from event_before;
do $$ begin
  execute format('alter table event attach partition event_before for values from (minvalue) to (%L)',
    (select ends from event_part));
end $$;

-- What no other part holds: nobody who writes is refused because a part was not made in time.
create table event_rest partition of event default;

-- The second wall (0002), around each part as around the whole.
create function wall_event_part(part text) returns void language plpgsql set search_path = public, pg_temp as $$
begin
  execute format('alter table %I enable row level security, force row level security', part);
  execute format('create policy event_own on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)', part);
  execute format('create policy event_all on %I to skerry_system using (true)', part);
end $$;
select wall_event_part(name) from (values ('event'), ('event_rest')) as part (name);
grant select, insert, update, delete on event to skerry_tenant, skerry_system;

-- Makes the part of the month that begins then, with what has come to the rest of it.
create function make_event_part(first timestamptz) returns void language plpgsql set search_path = public, pg_temp as $$
declare
  part text := 'event_' || to_char(first at time zone 'UTC', 'YYYYMM');
  after timestamptz := (first at time zone 'UTC' + interval '1 month') at time zone 'UTC';
begin
  execute format('create table %I (like event including defaults including indexes)', part);
  perform wall_event_part(part);
  -- Nobody writes to the rest until this is over.
  lock table event_rest in access exclusive mode;
  execute format('with moved as (delete from event_rest where at >= %L and at < %L returning *)
    insert into %I select * from moved', first, after, part);
  execute format('alter table event attach partition %I for values from (%L) to (%L)', part, first, after);
  insert into event_part values (part, first, after);
end $$;

-- Makes the parts of this month and the next, drops those that ended longer ago than this, and says how many. Called again and again by
-- every cell; one at a time does it. It waits for nobody longer than a moment, because all readers would wait behind it: who cannot
-- have the lock tries again.
create function keep_events(kept interval) returns integer language plpgsql security definer
  set search_path = public, pg_temp set lock_timeout = '200ms' as $$
declare
  first timestamptz;
  part text;
  dropped integer := 0;
begin
  if not pg_try_advisory_xact_lock(hashtext('keep_events')) then return 0; end if;
  for first in select month at time zone 'UTC' from generate_series(
      date_trunc('month', clock_timestamp() at time zone 'UTC'),
      date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '1 month', interval '1 month') month loop
    if not exists (select from event_part where starts <= first and ends > first) then
      perform make_event_part(first);
    end if;
  end loop;
  -- One at a time: each is a lock that readers wait for.
  select name into part from event_part where ends <= clock_timestamp() - kept order by ends limit 1;
  if part is not null then
    execute format('drop table %I', part);
    delete from event_part where name = part;
    dropped := 1;
  end if;
  return dropped;
end $$;
revoke execute on function keep_events(interval), make_event_part(timestamptz), wall_event_part(text) from public;
grant execute on function keep_events(interval) to skerry_system;
select keep_events(interval '1000 years');

-- What is deleted after a while is found by when it went, and nothing that names it is searched for in whole tables.
create index vm_gone on vm (deleted_at) where deleted_at is not null;
create index vapp_gone on vapp (deleted_at) where deleted_at is not null;
create index vm_in_vapp on vm (org, vapp);
create index vm_of_source on vm (org, source) where source is not null;
create index metadata_of_vm on metadata (org, vm) where vm is not null;
create index metadata_of_vapp on metadata (org, vapp);
