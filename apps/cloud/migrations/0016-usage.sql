-- What organisations use, in whole milliseconds. A row that is metered says since when it has been what it is; a trigger turns that into
-- a span when it changes or ends. So no code path can forget to, and there is nothing to correct later. Hours are sums over spans.

-- The clock of metering, and the only one. A function of its own, so that a test can set it.
create function usage_clock() returns timestamptz language sql volatile return clock_timestamp();

-- Up to `until` every hour is in usage_hour. `closed_at` and `closed_tx`: when the last pass began, and its transaction; a span that ends
-- before `closed_at` is of a transaction that is not later.
create table usage_folded (
  single boolean primary key default true check (single),
  until timestamptz(3) not null,
  closed_at timestamptz(3),
  closed_tx xid8
);
insert into usage_folded (until) values (date_trunc('hour', clock_timestamp(), 'UTC'));
grant select on usage_folded to skerry_tenant;
grant select, update on usage_folded to skerry_system;

-- Not before the hours that are summed up, even if the clock of the database goes backwards.
create function usage_now() returns timestamptz language sql volatile
  return (select greatest(usage_clock(), until) from usage_folded);

-- now() is evaluated once: a million rows are not rewritten.
alter table vm add column metered_since timestamptz(3) not null default now();
alter table template add column metered_since timestamptz(3) not null default now();
alter table external_address add column metered_since timestamptz(3) not null default now();
alter table vm alter column metered_since set default usage_now();
alter table template alter column metered_since set default usage_now();
alter table external_address alter column metered_since set default usage_now();

-- What something used while it stayed the same. What it uses now is in its own row.
create table usage_span (
  org uuid not null,
  kind text collate "C" not null check (kind in ('vm', 'template', 'address')),
  -- The VM, the template, or the edge gateway of the address.
  unit uuid not null,
  began_at timestamptz(3) not null,
  ended_at timestamptz(3) not null check (ended_at > began_at),
  running boolean not null default false,
  cpus integer not null default 0,
  memory_mib integer not null default 0,
  storage_mib integer not null default 0
);
create index usage_span_of_org on usage_span (org, ended_at);
-- Spans are appended in the order of their ends.
create index usage_span_ended on usage_span using brin (ended_at) with (pages_per_range = 16, autosummarize = on);

-- What an organisation used in an hour: units times milliseconds, so that no sum is rounded.
create table usage_hour (
  org uuid not null,
  hour timestamptz not null,
  vm_ms bigint not null,
  running_vm_ms bigint not null,
  cpu_ms bigint not null,
  running_cpu_ms bigint not null,
  memory_mib_ms bigint not null,
  running_memory_mib_ms bigint not null,
  -- Disks, snapshots and saved memory of VMs, as quotas count them.
  storage_mib_ms bigint not null,
  template_mib_ms bigint not null,
  address_ms bigint not null,
  primary key (org, hour)
);
create index usage_hour_in_order on usage_hour using brin (hour) with (pages_per_range = 16, autosummarize = on);

-- The status that a host reported last counts, not the displayed one: a VM whose host is silent is not off. One that is lost is not
-- metered from the time when that is known.
create function meter_vm() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare moment timestamptz(3) := greatest(usage_now(), old.metered_since);
begin
  if old.deleted_at is null and old.lost_reason is null and moment > old.metered_since then
    insert into usage_span (org, kind, unit, began_at, ended_at, running, cpus, memory_mib, storage_mib)
      values (old.org, 'vm', old.id, old.metered_since, moment, old.status = 'POWERED_ON', old.cpus, old.memory_mib, old.stored_mib);
  end if;
  if tg_op = 'DELETE' then return old; end if;
  new.metered_since := moment;
  return new;
end $$;
-- Claims, leases and reports that change nothing metered do not call it. The last sum is stored_mib, which is not computed yet.
create trigger meter_changed_vm before update on vm for each row
  when ((old.status = 'POWERED_ON', old.cpus, old.memory_mib, old.stored_mib, old.deleted_at is null, old.lost_reason is null)
    is distinct from (new.status = 'POWERED_ON', new.cpus, new.memory_mib, new.disk_mib + new.snapshot_mib + new.taking_mib
      + greatest(new.saving_mib, case when new.status = 'SUSPENDED' then new.memory_mib else 0 end),
      new.deleted_at is null, new.lost_reason is null))
  execute function meter_vm();
create trigger meter_deleted_vm before delete on vm for each row
  when (old.deleted_at is null and old.lost_reason is null) execute function meter_vm();

-- A template counts by the bytes of its image, in MiB, rounded up.
create function template_mib(bytes bigint) returns integer language sql immutable parallel safe
  return ((bytes + 1048575) / 1048576)::integer;
create function meter_template() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare moment timestamptz(3) := greatest(usage_now(), old.metered_since);
begin
  if moment > old.metered_since then
    insert into usage_span (org, kind, unit, began_at, ended_at, storage_mib)
      select old.org, 'template', old.id, old.metered_since, moment, template_mib(image.bytes) from image where digest = old.image;
  end if;
  if tg_op = 'DELETE' then return old; end if;
  new.metered_since := moment;
  return new;
end $$;
create trigger meter_changed_template before update on template for each row
  when (old.image is distinct from new.image) execute function meter_template();
create trigger meter_deleted_template before delete on template for each row execute function meter_template();

-- The addresses that organisations took, as quotas count them; not those of the edge gateways themselves.
create function meter_address() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare moment timestamptz(3) := greatest(usage_now(), old.metered_since);
begin
  if old.purpose = 'tenant' and moment > old.metered_since then
    insert into usage_span (org, kind, unit, began_at, ended_at)
      values (old.org, 'address', old.edge_gateway, old.metered_since, moment);
  end if;
  if tg_op = 'DELETE' then return old; end if;
  new.metered_since := moment;
  return new;
end $$;
create trigger meter_changed_address before update on external_address for each row
  when ((old.org, old.purpose) is distinct from (new.org, new.purpose)) execute function meter_address();
create trigger meter_deleted_address before delete on external_address for each row execute function meter_address();

-- Tenants read what they used and cannot write it.
do $$
declare each text;
begin
  foreach each in array array['usage_span', 'usage_hour'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_system', each);
    execute format('grant select on %I to skerry_tenant', each);
  end loop;
end $$;
grant create on schema public to skerry_system;
alter function meter_vm() owner to skerry_system;
alter function meter_template() owner to skerry_system;
alter function meter_address() owner to skerry_system;
revoke create on schema public from skerry_system;
