-- The query service: pages and exact totals over a million VMs (docs/query.md says what was measured and why it is so).
-- One row is one record: what a record shows stands in the row, so that no page has to join.

-- What a name is compared and sorted by where case does not count. The result sorts by its bytes, which every index can deliver.
create function folded(text) returns text language sql immutable strict parallel safe
  return lower($1 collate "und-x-icu") collate "C";

-- Text in the order of its bytes: a prefix is then a range, which row-level security lets into an index.
alter table org alter column name type text collate "C";
alter table vdc alter column name type text collate "C";
alter table template alter column name type text collate "C";
alter table host alter column name type text collate "C";
alter table vapp alter column name type text collate "C", alter column owner type text collate "C";
alter table vm alter column name type text collate "C", alter column shown type text collate "C";
alter table task alter column owner type text collate "C", alter column operation type text collate "C";
alter table event alter column kind type text collate "C";

alter table vapp
  add column vdc_name text collate "C",
  add column name_key text collate "C" not null generated always as (folded(name)) stored;
alter table vm
  add column vdc uuid,
  add column container_name text collate "C",
  add column container_key text collate "C" generated always as (folded(container_name)) stored,
  add column host_name text collate "C",
  add column name_key text collate "C" not null generated always as (folded(name)) stored;
-- What a task was asked of, as it was called then.
alter table task add column object_name text collate "C";

update vapp set vdc_name = vdc.name from vdc where vdc.org = vapp.org and vdc.id = vapp.vdc;
update vm set container_name = vapp.name, vdc = vapp.vdc from vapp where vapp.org = vm.org and vapp.id = vm.vapp;
update vm set host_name = host.name from host where host.id = vm.host;
update task set object_name = coalesce((select vm.name from vm where vm.id = task.vm),
  (select vapp.name from vapp where vapp.org = task.org and vapp.id = task.vapp));
alter table vapp alter column vdc_name set not null;
alter table vm alter column vdc set not null, alter column container_name set not null,
  alter column container_key set not null;
alter table task alter column object_name set not null;

-- The copies are kept here, so that no path of ours can forget one. A row whose vApp is not there goes on to the foreign key,
-- which refuses it.
create function vapp_shows() returns trigger language plpgsql as $$
begin
  new.vdc_name := coalesce((select vdc.name from vdc where vdc.org = new.org and vdc.id = new.vdc), '');
  return new;
end $$;
create trigger vapp_shows before insert or update of vdc on vapp for each row execute function vapp_shows();

create function vm_shows() returns trigger language plpgsql as $$
declare container record;
begin
  if tg_op = 'INSERT' or new.vapp <> old.vapp then
    select vapp.name, vapp.vdc into container from vapp where vapp.org = new.org and vapp.id = new.vapp;
    new.container_name := coalesce(container.name, '');
    new.vdc := coalesce(container.vdc, new.vapp);
  end if;
  -- Tenants cannot read hosts, and never place a VM on one.
  if new.host is null then
    new.host_name := null;
  elsif tg_op = 'INSERT' or new.host is distinct from old.host then
    new.host_name := (select host.name from host where host.id = new.host);
  end if;
  return new;
end $$;
create trigger vm_shows before insert or update of vapp, host on vm for each row execute function vm_shows();

create function task_shows() returns trigger language plpgsql as $$
begin
  new.object_name := case when new.vm is null
    then (select vapp.name from vapp where vapp.org = new.org and vapp.id = new.vapp)
    else (select vm.name from vm where vm.org = new.org and vm.id = new.vm) end;
  new.object_name := coalesce(new.object_name, '');
  return new;
end $$;
create trigger task_shows before insert on task for each row execute function task_shows();

create function vdc_renamed() returns trigger language plpgsql as $$
begin
  update vapp set vdc_name = new.name where org = new.org and vdc = new.id;
  return null;
end $$;
create trigger vdc_renamed after update of name on vdc for each row
  when (old.name is distinct from new.name) execute function vdc_renamed();

create function vapp_renamed() returns trigger language plpgsql as $$
begin
  update vm set container_name = new.name, vdc = new.vdc where org = new.org and vapp = new.id;
  return null;
end $$;
create trigger vapp_renamed after update of name, vdc on vapp for each row
  when ((old.name, old.vdc) is distinct from (new.name, new.vdc)) execute function vapp_renamed();

create function host_renamed() returns trigger language plpgsql as $$
begin
  update vm set host_name = new.name where host = new.id;
  return null;
end $$;
create trigger host_renamed after update of name on host for each row
  when (old.name is distinct from new.name) execute function host_renamed();

-- Totals are added up, not counted: folded counters, and the changes that are not folded yet, read in one statement. Writers only
-- append, so they never wait for each other here; readers are exact whether the fold runs or not.
create table vm_tally (
  org uuid not null,
  vdc uuid not null,
  shown text collate "C" not null,
  n bigint not null,
  primary key (org, shown, vdc)
) with (fillfactor = 50);
create table vm_tally_delta (
  org uuid not null,
  vdc uuid not null,
  shown text collate "C" not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index vm_tally_delta_org on vm_tally_delta (org);
insert into vm_tally select org, vdc, shown, count(*) from vm where deleted_at is null group by 1, 2, 3;

create function vm_tally_inserted() returns trigger language plpgsql as $$
begin
  insert into vm_tally_delta select org, vdc, shown, count(*) from fresh where deleted_at is null group by 1, 2, 3;
  return null;
end $$;
create function vm_tally_deleted() returns trigger language plpgsql as $$
begin
  insert into vm_tally_delta select org, vdc, shown, -count(*) from stale where deleted_at is null group by 1, 2, 3;
  return null;
end $$;
-- Most updates are claims and leases, which change no total: a condition on the row costs them nothing, while a trigger for the
-- statement would copy every row.
create function vm_tally_updated() returns trigger language plpgsql as $$
begin
  insert into vm_tally_delta
    select org, vdc, shown, n from (values
      (old.org, old.vdc, old.shown, -1, old.deleted_at), (new.org, new.vdc, new.shown, 1, new.deleted_at))
      as change(org, vdc, shown, n, deleted_at)
    where deleted_at is null;
  return null;
end $$;
create trigger vm_tally_inserted after insert on vm
  referencing new table as fresh for each statement execute function vm_tally_inserted();
create trigger vm_tally_deleted after delete on vm
  referencing old table as stale for each statement execute function vm_tally_deleted();
create trigger vm_tally_updated after update on vm for each row
  when ((old.org, old.vdc, old.shown, old.deleted_at is null)
    is distinct from (new.org, new.vdc, new.shown, new.deleted_at is null))
  execute function vm_tally_updated();

-- Called by every cell again and again; one at a time folds, the others go away.
create function vm_tally_fold() returns bigint language plpgsql as $$
declare folded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtext('vm_tally_fold')) then return 0; end if;
  with gone as (delete from vm_tally_delta returning *),
  kept as (
    insert into vm_tally as tally
      select org, vdc, shown, sum(n) from gone group by 1, 2, 3 having sum(n) <> 0
    on conflict (org, shown, vdc) do update set n = tally.n + excluded.n)
  select count(*) into folded from gone;
  return folded;
end $$;

-- LIKE that row-level security lets into an index. Every pattern is written by our translator, so none is ever malformed, and an
-- error cannot tell anything of a row. Sealing it takes a superuser; without one a search inside names reads all names of the
-- organisation, and finds the same.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;
do $$ begin
  create function like_sealed(text, text) returns boolean
    language internal immutable strict parallel safe leakproof as 'textlike';
  create operator ~~~ (leftarg = text, rightarg = text, function = like_sealed, restrict = likesel, join = likejoinsel);
  create operator class trgm_sealed for type text using gin as
    operator 3 ~~~ (text, text),
    function 1 btint4cmp(int4, int4),
    function 2 gin_extract_value_trgm(text, internal),
    function 3 gin_extract_query_trgm(text, internal, int2, internal, internal, internal, internal),
    function 4 gin_trgm_consistent(internal, int2, text, int4, internal, internal, internal, internal),
    function 6 gin_trgm_triconsistent(internal, int2, text, int4, internal, internal, internal),
    storage int4;
  create index vm_name_inside on vm using gin (org, name_key trgm_sealed) with (fastupdate = off) where deleted_at is null;
exception when insufficient_privilege then
  create operator ~~~ (leftarg = text, rightarg = text, function = textlike, restrict = likesel, join = likejoinsel);
end $$;

-- What tenants walk.
drop index if exists vm_shown;
create index vm_query_id on vm (org, id) include (shown, vdc, cpus, memory_mib) where deleted_at is null;
create index vm_query_status on vm (org, shown, id) where deleted_at is null;
create index vm_query_name on vm (org, name_key, id) include (shown, vdc) where deleted_at is null;
create index vm_query_container on vm (org, container_key, id) include (shown, vdc) where deleted_at is null;
create index vapp_query_id on vapp (org, id) where deleted_at is null;
create index vapp_query_name on vapp (org, name_key, id) where deleted_at is null;
create index task_query_id on task (org, id);
create index task_query_state on task (org, state, id);
-- Either role, by one id.
create index vm_of_vapp on vm (vapp) where deleted_at is null;
create unique index vapp_id on vapp (id);
-- What administrators walk, over all organisations. created_at > '-infinity' is always true, and only their queries say it: so the
-- planner can never walk one of these for a tenant and throw the others' rows away.
create index vm_all_id on vm (id) include (shown, vdc) where deleted_at is null and created_at > '-infinity';
create index vm_all_status on vm (shown, id) where deleted_at is null and created_at > '-infinity';
create index vm_all_name on vm (name_key, id) include (shown, vdc) where deleted_at is null and created_at > '-infinity';
create index vm_all_container on vm (container_key, id) include (shown, vdc)
  where deleted_at is null and created_at > '-infinity';
create index vm_all_host on vm (host_name, id) where deleted_at is null and created_at > '-infinity';
create index vm_all_vdc on vm (vdc, id) where deleted_at is null and created_at > '-infinity';
create index vapp_all_id on vapp (id) where deleted_at is null and created_at > '-infinity';
create index vapp_all_name on vapp (name_key, id) where deleted_at is null and created_at > '-infinity';
create index task_all_state on task (state, id) where created_at > '-infinity';

-- One organisation may have a fifth of all rows and another a thousandth: the planner must know which.
alter table vm alter column org set statistics 1000, alter column name_key set statistics 500;
alter table vm set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1,
  fillfactor = 90);

-- The second wall (0002) around what is new, and around the names of organisations. Whoever changes a VM appends here; only the
-- fold takes away.
do $$
declare each record;
begin
  for each in select * from (values ('org', 'id'), ('vm_tally', 'org'), ('vm_tally_delta', 'org')) as walled(name, owner) loop
    execute format('alter table %I enable row level security', each.name);
    execute format('alter table %I force row level security', each.name);
    execute format('create policy %I on %I to skerry_tenant using (%I = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each.name || '_own', each.name, each.owner);
    execute format('create policy %I on %I to skerry_system using (true)', each.name || '_all', each.name);
  end loop;
end $$;
grant select on vm_tally, vm_tally_delta to skerry_tenant;
grant insert on vm_tally_delta to skerry_tenant;
grant select, insert, update, delete on vm_tally, vm_tally_delta to skerry_system;
