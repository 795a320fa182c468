-- The database of the cloud. Which process owns which fact, and why: docs/operations.md.
-- States are text with a check, not enums: under row-level security an enum cannot use its index.
-- Names are collated "C": a prefix is then a range, which row-level security lets into an index.
-- Many columns that queries show are copies (trigger functions copy_*), so that no page needs a join.

-- The roles. A request's transaction acts as skerry_tenant and sees the rows of one organisation, or as skerry_system and sees
-- all rows. Row-level security is the second barrier between tenants, behind the authorisation of every route.
do $$ begin
  create role skerry_tenant nologin;
exception when duplicate_object or unique_violation then null; end $$;
do $$ begin
  create role skerry_system nologin;
exception when duplicate_object or unique_violation then null; end $$;
do $$ begin
  create role skerry_console nologin;
exception when duplicate_object or unique_violation then null; end $$;
grant skerry_tenant, skerry_system, skerry_console to current_user;

create function uuid_v7() returns uuid language sql volatile as $$
  -- The first 48 bits are the time in milliseconds, so that later ids sort later.
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- The key by which names are compared and sorted regardless of case. It sorts by bytes, which every index can deliver.
create function folded(text) returns text language sql immutable strict parallel safe
  return lower($1 collate "und-x-icu") collate "C";

-- The highest fencing token that was issued, as far as this database knows.
create function highest_fence() returns bigint language sql volatile
  return (select current_era() * 1099511627776 + last_value from fence_counter);


-- ── The cloud and its cells ────────────────────────────────────────────────────────────────────────────────────────────────

-- One row: facts about the whole cloud.
create table cloud (
  single boolean primary key default true check (single),
  id uuid not null default gen_random_uuid(),
  recovering boolean not null default false,
  -- Certificates of cells and consoles below this epoch are refused.
  epoch integer not null default 1,
  -- The number of the current or last recovery; each recovery increments it.
  recovery integer not null default 0,
  recovering_since timestamptz,
  -- An administrator stated that the database is a copy in a new cluster: the old one may still issue fencing tokens, so the era
  -- must rise above every era that was ever seen.
  new_era boolean not null default false,
  -- The findings of the last recovery: counts by kind.
  recovered jsonb,
  -- Until then leases may stop and delete more VMs than the usual limit.
  expiry_allowed_until timestamptz,
  -- When that was last requested.
  expiry_asked_at timestamptz,
  -- Limits on open consoles.
  consoles_per_vm integer not null default 4 check (consoles_per_vm >= 0),
  consoles_per_user integer not null default 20 check (consoles_per_user >= 0)
);

-- The cells that are alive: each computes its share of the hosts from them.
create table cell (
  id text primary key,
  alive_until timestamptz not null,
  -- A cell whose clock, certificate or route to the hosts is wrong is not fit; while another cell is fit, it follows no host.
  fit boolean not null default true
);


-- ── Organisations and accounts ─────────────────────────────────────────────────────────────────────────────────────────────

create table org (
  id uuid primary key default uuid_v7(),
  name text collate "C" not null unique,
  -- Its users cannot log in and its tokens are refused. Its VMs keep running.
  disabled boolean not null default false
);

create table account (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text not null,
  role text not null,
  password text not null,
  disabled boolean not null default false,
  primary key (org, id),
  unique (org, name)
);

create table session (
  token_hash bytea primary key,
  org uuid not null,
  account uuid not null,
  began_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  foreign key (org, account) references account on delete cascade
);

-- Failed logins, shared by all cells. A row is one account as seen from one network, by the hash of both; names without an
-- account get a row too.
create table login_failure (
  key bytea primary key,
  failures integer not null,
  last_at timestamptz not null,
  -- No attempt is accepted before.
  until timestamptz not null
);
create index login_failure_last on login_failure (last_at);

-- Tokens for scripts, stored as hashes. Unlike a session, a token ends only when it is revoked.
create table access_token (
  org uuid not null,
  id uuid not null default uuid_v7(),
  account uuid not null,
  name text not null,
  token_hash bytea not null unique,
  made_at timestamptz not null default clock_timestamp(),
  used_at timestamptz,
  primary key (org, id),
  unique (org, account, name),
  foreign key (org, account) references account on delete cascade
);

-- The limits of an organisation; null: unlimited. Tenants read it and cannot write it.
create table quota (
  org uuid primary key references org,
  vms integer,
  running_vms integer,
  cpus integer,
  memory_mib bigint,
  storage_mib bigint
);

-- How long the vApps of an organisation may run, and are kept once stopped, in seconds; 0: forever. Tenants read it and cannot
-- write it.
create table lease_policy (
  org uuid primary key references org,
  deployment_default integer not null default 0,
  deployment_max integer not null default 0,
  storage_default integer not null default 0,
  storage_max integer not null default 0
);
-- The lease that applies, given the vApp's own, the default and the maximum of its organisation.
create function lease_in_force(own integer, usual integer, most integer) returns integer language sql immutable
  return case when coalesce(most, 0) = 0 then coalesce(own, usual, 0)
    when coalesce(own, usual, 0) = 0 then most
    else least(coalesce(own, usual), most) end;


-- ── Images, templates, catalogs ────────────────────────────────────────────────────────────────────────────────────────────

create table vdc (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text collate "C" not null,
  -- Nothing new is created in it.
  disabled boolean not null default false,
  primary key (org, id),
  unique (org, name)
);

-- The bytes of a disk, by their SHA-256. Permissions depend on the template, never on the digest.
create table image (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  bytes bigint not null,
  virtual_mib integer not null
);

create table template (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text collate "C" not null,
  image text not null references image,
  cpus integer not null,
  memory_mib integer not null,
  disk_mib integer not null,
  primary key (org, id),
  unique (org, name)
);

create table catalog (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text collate "C" not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  unique (org, name)
);
create table catalog_item (
  org uuid not null,
  id uuid not null default uuid_v7(),
  catalog uuid not null,
  name text collate "C" not null,
  template uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  unique (org, catalog, name),
  foreign key (org, catalog) references catalog on delete cascade,
  foreign key (org, template) references template on delete cascade
);

-- Unfinished uploads of images into a catalog. Their bytes are files in the image store.
create table upload (
  org uuid not null,
  id uuid not null default uuid_v7(),
  catalog uuid not null,
  name text collate "C" not null,
  bytes bigint not null,
  -- The expected SHA-256, if the client stated it.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  cpus integer not null,
  memory_mib integer not null,
  -- The number of bytes that are synced to disk.
  received bigint not null default 0,
  -- A request is sending until then, unless it renews this.
  sending_until timestamptz not null default '-infinity',
  touched_at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  unique (org, catalog, name),
  foreign key (org, catalog) references catalog on delete cascade
);


-- ── Hosts ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table host (
  id uuid primary key default uuid_v7(),
  name text collate "C" not null,
  address text not null,
  port integer not null,
  -- The key that joined. A second request with the same key is from the same host.
  public_key text not null,
  state text not null default 'joined' check (state in ('joined', 'revoked', 'lost')),
  enabled boolean not null default false,
  -- Its first list of VMs was read; until then no VM is placed on it.
  first_list_read boolean not null default false,
  -- Why it gets no work until an administrator decides; null: it is not in quarantine.
  quarantine text,
  follower text,
  follow_until timestamptz,
  session bigint not null default 0,
  -- The session whose list of VMs has been read. The host gets work only if this is the current session.
  list_session bigint not null default 0,
  seen_at timestamptz,
  boot text,
  -- The highest fencing token that the host has stored.
  highest bigint not null default 0,
  version text,
  cpus integer not null default 0,
  memory_mib integer not null default 0,
  disk_mib integer not null default 0,
  local_cpus integer not null default 0,
  local_memory_mib integer not null default 0,
  -- The sums over the VMs placed here, maintained by a trigger on vm.
  placed_cpus integer not null default 0,
  placed_memory_mib integer not null default 0,
  placed_disk_mib integer not null default 0,
  -- The recovery in which its records were read, or in which an administrator waived them.
  recovery_read integer not null default 0,
  recovery_waived integer not null default 0
);

create table invitation (
  token_hash bytea primary key,
  expires_at timestamptz not null,
  -- The host to renew, whose disks survived; null: the invitation creates a new host.
  host uuid references host,
  -- The first key that used it: the invitation is bound to that key from then on.
  public_key text,
  made uuid references host
);

-- A cell that lost contact with a host leaves it to other cells until then.
create table standing_back (
  cell text not null,
  host uuid not null references host on delete cascade,
  until timestamptz not null,
  primary key (cell, host)
);

-- During a recovery: the records of each host about the VMs that it was ordered to create.
create table host_record (
  host uuid not null references host,
  vm uuid not null,
  incarnation bigint not null,
  highest bigint not null,
  there boolean not null,
  gone boolean not null,
  lost boolean not null,
  spec jsonb,
  primary key (host, vm)
);

-- VMs that a host has and that have no row: they are left alone until an administrator adopts them.
create table orphan (
  host uuid not null references host,
  vm uuid not null,
  found_at timestamptz not null default clock_timestamp(),
  primary key (host, vm)
);


-- ── vApps and VMs ──────────────────────────────────────────────────────────────────────────────────────────────────────────

create table vapp (
  org uuid not null,
  id uuid not null default uuid_v7(),
  vdc uuid not null,
  name text collate "C" not null,
  owner text collate "C" not null,
  created_at timestamptz not null default clock_timestamp(),
  -- A delete was accepted: no further task is accepted.
  closed boolean not null default false,
  deleted_at timestamptz,
  vdc_name text collate "C" not null,
  name_key text collate "C" not null generated always as (folded(name)) stored,
  -- null: the default of its organisation.
  deployment_lease integer,
  storage_lease integer,
  -- Since when it has been running, or stopped. One of them is null; both are null if no lease applies.
  deployed_since timestamptz,
  stored_since timestamptz,
  -- When its storage lease expired. It is deleted after another storage lease.
  expired_at timestamptz,
  -- The event about the approaching end of its lease was emitted.
  lease_warned boolean not null default false,
  primary key (org, id),
  foreign key (org, vdc) references vdc
);

create table vm (
  org uuid not null,
  id uuid not null default uuid_v7(),
  vapp uuid not null,
  name text collate "C" not null,
  -- A lower order starts earlier and stops later.
  start_order integer not null default 0,
  image text not null references image,
  -- The VM whose disk it was cloned from.
  source uuid,
  cpus integer not null,
  memory_mib integer not null,
  disk_mib integer not null,
  -- During a reconfiguration: the previous sizes. The larger of both count.
  sizes_before jsonb,
  created_at timestamptz not null default clock_timestamp(),
  closed boolean not null default false,
  deleted_at timestamptz,

  -- Its host. With its sizes, this is the reservation there.
  host uuid references host,
  incarnation bigint not null default 0,
  -- Set before the first start is sent: from then on it leaves its host only by migration.
  ever_started boolean not null default false,

  -- Its status in the last report of its host, never a desired one.
  status text not null default 'UNRESOLVED'
    check (status in ('FAILED_CREATION', 'UNRESOLVED', 'RESOLVED', 'SUSPENDED', 'POWERED_ON', 'POWERED_OFF')),
  boot text,
  -- The last boot that was reported: the one that ended, if it is off although it should be on.
  last_boot text,
  seen_session bigint not null default 0,
  seen_seq integer not null default 0,
  seen_at timestamptz,
  -- Its host is not heard now, so its status is unknown.
  host_silent boolean not null default false,
  -- In how many lists of its own host it was absent.
  missing integer not null default 0,
  -- MISSING: its host was asked after a restore and does not have it. LOST: its host and its disks are lost.
  lost_reason text check (lost_reason in ('MISSING', 'LOST')),
  displayed_status text collate "C" not null generated always as
    (case when lost_reason is not null then lost_reason when host_silent then 'UNKNOWN' else status end) stored,
  -- Whether its guest may use virtualisation, as reported by its host.
  nested boolean not null default false,

  -- Its network card as reported by its host: the network of its organisation there, and the address that it keeps while it is
  -- placed there. Null before the first report, and if it is on no such network.
  network text collate "C",
  mac text collate "C",
  address text collate "C",
  -- The host name given to its guest by cloud-init; null: its guest got no seed.
  computer_name text,

  -- The one snapshot that a VM may have: its name at the host, the user's name, and whether it restores a running guest.
  snapshot text,
  snapshot_name text,
  snapshot_at timestamptz,
  snapshot_on boolean not null default false,
  -- The most that the snapshot can hold: the disk as it was, and the memory if it was saved.
  snapshot_mib integer not null default 0,
  -- Reserved for a snapshot that is being taken, or that a task with an unknown end may have taken.
  taking_mib integer not null default 0,
  -- Its host was asked for that snapshot.
  taking_asked boolean not null default false,
  -- Reserved for memory that is being saved.
  saving_mib integer not null default 0,
  -- The last task whose reservation is counted in this row.
  reserved_task uuid,
  -- All that it takes of its host's storage and of its organisation's quota.
  stored_mib integer not null generated always as (disk_mib + snapshot_mib + taking_mib
    + greatest(saving_mib, case when status = 'SUSPENDED' then memory_mib else 0 end)) stored,

  -- The power state that reconciliation restores; changed by tasks.
  desired_power text not null default 'POWERED_OFF' check (desired_power in ('POWERED_ON', 'POWERED_OFF', 'SUSPENDED')),
  -- A restore lost the desired power state: the next report sets it.
  desired_power_unknown boolean not null default false,
  -- The status after its last queued task that changes the status; null if there is none.
  queue_target text,
  -- The status after all queued tasks: the next request is checked against it.
  projected_status text not null generated always as (coalesce(queue_target, status)) stored,
  -- The number of positions assigned in its queue so far. Counted on the locked row: a sequence does not order.
  queue_length integer not null default 0,

  -- The fencing token of the newest claim. Writes carry it; a write with a lower token changes nothing.
  fence bigint not null default 0,
  holder text,
  lease_until timestamptz,
  -- The number of wake-ups of its queue since a worker last claimed.
  wake_attempts integer not null default 0,
  woken_at timestamptz,

  -- Copies for queries.
  vdc uuid not null,
  container_name text collate "C" not null,
  container_key text collate "C" not null generated always as (folded(container_name)) stored,
  host_name text collate "C",
  name_key text collate "C" not null generated always as (folded(name)) stored,

  primary key (org, id),
  unique (id),
  foreign key (org, vapp) references vapp,
  constraint vm_source foreign key (org, source) references vm
);

-- User data for the first start of a guest, until its VM is created: sealed with a key that is on the cells and never here,
-- because it may contain secrets.
create table guest_seed (
  org uuid not null,
  vm uuid not null,
  sealed bytea not null,
  primary key (org, vm),
  foreign key (org, vm) references vm
);

-- Metadata of a vApp, or of one of its VMs.
create table metadata (
  org uuid not null,
  vapp uuid not null,
  vm uuid,
  key text not null,
  type text not null check (type in ('String', 'Number', 'Boolean', 'DateTime')),
  value text not null,
  foreign key (org, vapp) references vapp,
  foreign key (org, vm) references vm
);
create unique index metadata_key on metadata (org, coalesce(vm, vapp), key);


-- ── Tasks ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Unique keys are checked regardless of row-level security: one without the organisation would reveal rows of other tenants.
create table task (
  id uuid primary key default uuid_v7(),
  org uuid not null,
  -- A parent belongs to a vApp and has no VM; a child has both.
  vapp uuid not null,
  vm uuid,
  parent uuid,
  -- A child may start when all children of lower rank have ended.
  rank integer not null default 0,
  -- If it fails, children of higher rank are canceled.
  stop_on_failure boolean not null default false,
  -- Its position in the queue of its VM.
  position integer,
  owner text collate "C" not null,
  operation text collate "C" not null,
  input jsonb,
  -- The status of the VM after it succeeds; null: it changes no status.
  target_status text,
  -- The status of the VM when it was first claimed: an undo leads back to it.
  status_before text,
  state text not null default 'queued' check (state in ('queued', 'running', 'success', 'error', 'canceled')),
  direction text not null default 'forward' check (direction in ('forward', 'back')),
  cancel_requested boolean not null default false,
  -- Its point of no return has begun: it is not rolled back any more.
  past_no_return boolean not null default false,
  progress integer not null default 0,
  fault text,
  message text,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  -- Counted from its start: the time that it waits for a host does not count.
  deadline timestamptz,
  ended_at timestamptz,
  -- The name of its object at the time of the request.
  object_name text collate "C" not null,
  -- The storage that it adds beside the disk of its VM, so that it counts in the quota while it is queued.
  stores_mib integer not null default 0,
  -- The last obstacle that its worker reported: room, retry, host-limit or org-limit.
  worker_wait text,
  -- Failed attempts of the current step, since when, and until when it is retried.
  attempts integer not null default 0,
  failing_since timestamptz,
  step_gives_up_at timestamptz,
  last_failure text,
  last_failure_at timestamptz,
  -- The reason in the last emitted event, and since when it applies.
  wait_reason text,
  waiting_since timestamptz,
  foreign key (org, vapp) references vapp,
  foreign key (org, vm) references vm,
  unique (org, vm, position)
);

-- The requests that were accepted, by their idempotency key.
create table request_key (
  org uuid not null references org,
  account uuid not null,
  key text not null,
  body_hash bytea not null,
  task uuid not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (org, account, key)
);

-- Undo steps that could not be executed because the host was unreachable. They are executed first when it reconnects.
create table pending_undo (
  host uuid not null references host,
  vm uuid not null,
  incarnation bigint not null,
  goal jsonb not null,
  task uuid not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (host, vm, incarnation)
);


-- ── Events, by month ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- The events of a past month are dropped as one table, which costs the same for a thousand and for a hundred million events.
-- All queries go through `event`: its policies hold for every partition, and no role has a grant on a partition.
create table event (
  -- Read only below the oldest open transaction: with a sequence alone a reader could pass an event by.
  tx xid8 not null default pg_current_xact_id(),
  seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  org uuid,
  kind text collate "C" not null,
  vapp uuid,
  vm uuid,
  task uuid,
  host uuid,
  details jsonb not null default '{}'
) partition by range (at);
create index event_in_order on event (tx, seq);
create index event_of_org on event (org, tx, seq);

-- The partitions: each holds the events from `starts` until before `ends`.
create table event_part (
  name text primary key,
  starts timestamptz not null,
  ends timestamptz not null
);

-- The events that no other partition holds: a write is never refused because a partition was not created in time.
create table event_rest partition of event default;

create function protect_event_part(part text) returns void language plpgsql set search_path = public, pg_temp as $$
begin
  execute format('alter table %I enable row level security, force row level security', part);
  execute format('create policy event_own on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)', part);
  execute format('create policy event_all on %I to skerry_system using (true)', part);
end $$;
select protect_event_part(name) from (values ('event'), ('event_rest')) as part (name);
grant select, insert, update, delete on event to skerry_tenant, skerry_system;

-- Creates the partition of the month that begins at `first`, and moves its events there from the rest.
create function make_event_part(first timestamptz) returns void language plpgsql set search_path = public, pg_temp as $$
declare
  part text := 'event_' || to_char(first at time zone 'UTC', 'YYYYMM');
  after timestamptz := (first at time zone 'UTC' + interval '1 month') at time zone 'UTC';
begin
  execute format('create table %I (like event including defaults including indexes)', part);
  perform protect_event_part(part);
  -- No writes to the rest until this commits.
  lock table event_rest in access exclusive mode;
  execute format('with moved as (delete from event_rest where at >= %L and at < %L returning *)
    insert into %I select * from moved', first, after, part);
  execute format('alter table event attach partition %I for values from (%L) to (%L)', part, first, after);
  insert into event_part values (part, first, after);
end $$;

-- Creates the partitions of this month and the next, drops one that ended longer than `kept` ago, and returns the number of
-- dropped ones. Every cell calls it periodically; one call at a time does the work. It waits for a lock only for a moment, because
-- all readers would wait behind it; the next call tries again.
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
revoke execute on function keep_events(interval), make_event_part(timestamptz), protect_event_part(text) from public;
grant execute on function keep_events(interval) to skerry_system;
select keep_events(interval '1000 years');


-- ── Sums: what is placed on a host, and totals by status ───────────────────────────────────────────────────────────────────

-- A trigger counts, so that no code path can forget to. It needs the right to update the host's row, which tenants lack.
create function count_placed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op <> 'INSERT' and old.host is not null and old.deleted_at is null then
    update host set placed_cpus = placed_cpus - old.cpus,
      placed_memory_mib = placed_memory_mib - old.memory_mib, placed_disk_mib = placed_disk_mib - old.stored_mib
    where id = old.host;
  end if;
  if tg_op <> 'DELETE' and new.host is not null and new.deleted_at is null then
    update host set placed_cpus = placed_cpus + new.cpus,
      placed_memory_mib = placed_memory_mib + new.memory_mib, placed_disk_mib = placed_disk_mib + new.stored_mib
    where id = new.host;
  end if;
  return null;
end $$;
create trigger count_placed_insert after insert on vm for each row execute function count_placed();
create trigger count_placed_delete after delete on vm for each row execute function count_placed();
create trigger count_placed_update after update on vm for each row
  when ((old.host, old.cpus, old.memory_mib, old.stored_mib, old.deleted_at)
    is distinct from (new.host, new.cpus, new.memory_mib, new.stored_mib, new.deleted_at))
  execute function count_placed();

-- Exact totals without counting rows: folded counters plus the changes that are not folded yet, read in one statement. Writers
-- only append, so they never wait for each other here (docs/query.md has the measurements).
create table vm_tally (
  org uuid not null,
  vdc uuid not null,
  displayed_status text collate "C" not null,
  n bigint not null,
  primary key (org, displayed_status, vdc)
) with (fillfactor = 50);
create table vm_tally_delta (
  org uuid not null,
  vdc uuid not null,
  displayed_status text collate "C" not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index vm_tally_delta_org on vm_tally_delta (org);
-- The same over all organisations, for administrators.
create table vm_tally_cloud (
  displayed_status text collate "C" primary key,
  n bigint not null
) with (fillfactor = 50);

create function vm_tally_inserted() returns trigger language plpgsql as $$
begin
  insert into vm_tally_delta select org, vdc, displayed_status, count(*) from fresh where deleted_at is null group by 1, 2, 3;
  return null;
end $$;
create function vm_tally_deleted() returns trigger language plpgsql as $$
begin
  insert into vm_tally_delta select org, vdc, displayed_status, -count(*) from stale where deleted_at is null group by 1, 2, 3;
  return null;
end $$;
-- Most updates are claims and leases, which change no total: a condition on the row costs nothing, while a trigger for the
-- statement would copy every row.
create function vm_tally_updated() returns trigger language plpgsql as $$
begin
  insert into vm_tally_delta
    select org, vdc, displayed_status, n from (values
      (old.org, old.vdc, old.displayed_status, -1, old.deleted_at), (new.org, new.vdc, new.displayed_status, 1, new.deleted_at))
      as change(org, vdc, displayed_status, n, deleted_at)
    where deleted_at is null;
  return null;
end $$;
create trigger vm_tally_inserted after insert on vm
  referencing new table as fresh for each statement execute function vm_tally_inserted();
create trigger vm_tally_deleted after delete on vm
  referencing old table as stale for each statement execute function vm_tally_deleted();
create trigger vm_tally_updated after update on vm for each row
  when ((old.org, old.vdc, old.displayed_status, old.deleted_at is null)
    is distinct from (new.org, new.vdc, new.displayed_status, new.deleted_at is null))
  execute function vm_tally_updated();

-- Every cell calls it periodically; one call at a time folds, the others return.
create function vm_tally_fold() returns bigint language plpgsql as $$
declare folded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtext('vm_tally_fold')) then return 0; end if;
  with gone as (delete from vm_tally_delta returning *),
  kept as (
    insert into vm_tally as tally
      select org, vdc, displayed_status, sum(n) from gone group by 1, 2, 3 having sum(n) <> 0
    on conflict (org, displayed_status, vdc) do update set n = tally.n + excluded.n),
  everywhere as (
    insert into vm_tally_cloud as tally
      select displayed_status, sum(n) from gone group by 1 having sum(n) <> 0
    on conflict (displayed_status) do update set n = tally.n + excluded.n)
  select count(*) into folded from gone;
  return folded;
end $$;


-- ── Copies for queries ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- Triggers keep the copies, so that no code path can forget one. A row whose vApp does not exist is refused by its foreign key.
create function copy_to_vapp() returns trigger language plpgsql as $$
begin
  new.vdc_name := coalesce((select vdc.name from vdc where vdc.org = new.org and vdc.id = new.vdc), '');
  return new;
end $$;
create trigger copy_to_vapp before insert or update of vdc on vapp for each row execute function copy_to_vapp();

create function copy_to_vm() returns trigger language plpgsql as $$
declare container record;
begin
  if tg_op = 'INSERT' or new.vapp <> old.vapp then
    select vapp.name, vapp.vdc into container from vapp where vapp.org = new.org and vapp.id = new.vapp;
    new.container_name := coalesce(container.name, '');
    new.vdc := coalesce(container.vdc, new.vapp);
  end if;
  -- Tenants cannot read hosts, and never place a VM.
  if new.host is null then
    new.host_name := null;
  elsif tg_op = 'INSERT' or new.host is distinct from old.host then
    new.host_name := (select host.name from host where host.id = new.host);
  end if;
  return new;
end $$;
create trigger copy_to_vm before insert or update of vapp, host on vm for each row execute function copy_to_vm();

create function copy_to_task() returns trigger language plpgsql as $$
begin
  new.object_name := case when new.vm is null
    then (select vapp.name from vapp where vapp.org = new.org and vapp.id = new.vapp)
    else (select vm.name from vm where vm.org = new.org and vm.id = new.vm) end;
  new.object_name := coalesce(new.object_name, '');
  return new;
end $$;
create trigger copy_to_task before insert on task for each row execute function copy_to_task();

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

-- LIKE that row-level security lets into an index. Our translator writes every pattern, so none is malformed, and an error cannot
-- reveal anything about a row. Declaring it leakproof takes a superuser; without one, a search inside names reads all names of the
-- organisation and returns the same.
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


-- ── Indexes ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

create unique index vapp_name on vapp (org, name) where deleted_at is null;
create unique index vm_name on vm (org, vapp, name) where deleted_at is null;
-- For workers and reconciliation.
create index vm_of_host on vm (host) where deleted_at is null;
create index vm_held on vm (org) where holder is not null;
create index vm_fallen on vm (id) where desired_power = 'POWERED_ON' and status = 'POWERED_OFF' and deleted_at is null;
create index task_open on task (vm, position) where state in ('queued', 'running');
create index task_children on task (parent, rank) where parent is not null;
create index task_of_vapp on task (org, vapp, id);
create index task_of_org on task (org, id) where parent is null;
create index task_stores on task (org) where stores_mib > 0 and state in ('queued', 'running');
-- For queries of tenants.
create index vm_query_id on vm (org, id) include (displayed_status, vdc, cpus, memory_mib) where deleted_at is null;
create index vm_query_status on vm (org, displayed_status, id) where deleted_at is null;
create index vm_query_name on vm (org, name_key, id) include (displayed_status, vdc) where deleted_at is null;
create index vm_query_container on vm (org, container_key, id) include (displayed_status, vdc) where deleted_at is null;
create index vapp_query_id on vapp (org, id) where deleted_at is null;
create index vapp_query_name on vapp (org, name_key, id) where deleted_at is null;
create unique index task_query_id on task (org, id);
create index task_query_state on task (org, state, id);
alter table task add foreign key (org, parent) references task (org, id);
-- For either role, by one id.
create index vm_of_vapp on vm (vapp) where deleted_at is null;
create unique index vapp_id on vapp (id);
-- For queries of administrators, over all organisations. created_at > '-infinity' is always true, and only their queries contain
-- it: so the planner never walks one of these for a tenant and discards the rows of others.
create index vm_all_id on vm (id) include (displayed_status, vdc) where deleted_at is null and created_at > '-infinity';
create index vm_all_status on vm (displayed_status, id) where deleted_at is null and created_at > '-infinity';
create index vm_all_name on vm (name_key, id) include (displayed_status, vdc) where deleted_at is null and created_at > '-infinity';
create index vm_all_container on vm (container_key, id) include (displayed_status, vdc)
  where deleted_at is null and created_at > '-infinity';
create index vm_all_host on vm (host_name, id) where deleted_at is null and created_at > '-infinity';
create index vm_all_vdc on vm (vdc, id) where deleted_at is null and created_at > '-infinity';
create index vapp_all_id on vapp (id) where deleted_at is null and created_at > '-infinity';
create index vapp_all_name on vapp (name_key, id) where deleted_at is null and created_at > '-infinity';
create index task_all_state on task (state, id) where created_at > '-infinity';
-- For retention: deleted rows by time, and the rows that refer to them.
create index vm_gone on vm (deleted_at) where deleted_at is not null;
create index vapp_gone on vapp (deleted_at) where deleted_at is not null;
create index vm_in_vapp on vm (org, vapp);
create index vm_of_source on vm (org, source) where source is not null;
create index metadata_of_vm on metadata (org, vm) where vm is not null;
create index metadata_of_vapp on metadata (org, vapp);

-- One organisation may have a fifth of all rows and another a thousandth: the planner needs to know which.
alter table vm alter column org set statistics 1000, alter column name_key set statistics 500;
alter table vm set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1,
  fillfactor = 90);


-- ── Consoles ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Tickets for screens, as hashes: a console redeems a ticket once, within 30 s by this database's clock.
create table screen_ticket (
  ticket_hash bytea primary key,
  org uuid not null,
  vm uuid not null,
  boot text not null,
  -- The caller: a user of the organisation, or a system administrator.
  account_org uuid not null,
  account uuid not null,
  made_at timestamptz not null default clock_timestamp(),
  used_at timestamptz,
  host uuid not null,
  foreign key (org, vm) references vm,
  foreign key (account_org, account) references account on delete cascade
);
create index screen_ticket_of_vm on screen_ticket (org, vm);

-- Which roles have the permission vm:console, and which of them in every organisation: a copy of src/domain/roles.ts.
create table console_role (
  role text primary key,
  everywhere boolean not null default false
);
insert into console_role (role, everywhere) values
  ('console only', false), ('user', false), ('author', false), ('organisation administrator', false), ('system administrator', true);

create function ticket_life() returns interval language sql immutable return interval '30 s';
-- Longer than five renewals: a console that has been silent for this long is lost.
create function console_life() returns interval language sql immutable return interval '10 s';

-- Open consoles, and the three functions by which a console process, which has access to no table, opens, renews and closes one.
create table console (
  id uuid primary key default gen_random_uuid(),
  -- The VM, its boot and its host.
  org uuid not null,
  vapp uuid not null,
  vm uuid not null,
  boot text not null,
  host uuid not null,
  -- The user, by id and name, and the client's address. No foreign key: the event of its end must name a removed user too.
  account_org uuid not null,
  account uuid not null,
  user_name text not null,
  address text,
  -- The console process.
  via text not null,
  opened_at timestamptz not null default clock_timestamp(),
  renewed_at timestamptz not null default clock_timestamp(),
  bytes bigint not null default 0,
  -- It must be closed, and why: its process learns it at its next renewal.
  ended_at timestamptz,
  why text,
  foreign key (org, vm) references vm
);
create index console_of_vm on console (vm);
create index console_of_account on console (account);
create index console_renewed on console (renewed_at);

-- Console processes, and since when each has renewed without a pause: one that was cut off itself does not know which others were lost.
create table console_process (
  via text primary key,
  since timestamptz not null,
  renewed_at timestamptz not null
);

-- Console servers (`skerry cloud console`). A certificate for browsers is renewed for the host named here only: an attacker who
-- takes a console server over cannot impersonate another site.
create table console_machine (
  name text primary key,
  -- The DNS name or address under which browsers reach it.
  host text not null,
  -- Its login to this database.
  login text not null,
  made_at timestamptz not null default clock_timestamp()
);

-- Why this user may not see this boot of this VM on this host; null: the user may. A VM whose host is silent counts as running.
create function why_no_screen(the_vm uuid, the_boot text, the_host uuid, the_org uuid, the_account uuid)
returns table (why text) language sql stable as $$
  select case
    when vm.id is null or vm.closed or vm.deleted_at is not null then 'the VM was deleted'
    when vm.lost_reason is not null then 'the VM is lost'
    when vm.status = 'SUSPENDED' then 'the VM was suspended'
    when vm.status <> 'POWERED_ON' then 'the VM was powered off'
    when (vm.boot, vm.host) is distinct from (the_boot, the_host) then 'the VM was restarted'
    when account.id is null then 'the user was removed'
    when account.disabled then 'the user was disabled'
    when org.disabled then 'the organisation of the user was disabled'
    when console_role.role is null or (account.org <> vm.org and not console_role.everywhere)
      then 'the user has no permission for this screen'
  end
  from (values (true)) as always
    left join vm on vm.id = the_vm
    left join account on account.org = the_org and account.id = the_account
    left join org on org.id = account.org
    left join console_role on console_role.role = account.role
$$;

-- With the fields of every audit event: the user and the client's address.
create function emit_console_event(the_kind text, the_console console, more jsonb) returns void language sql as $$
  insert into event (kind, org, vapp, vm, details)
  values (the_kind, the_console.org, the_console.vapp, the_console.vm,
    jsonb_strip_nulls(jsonb_build_object('by', the_console.user_name, 'from', the_console.address, 'via', the_console.via)) || more)
$$;
create function emit_console_closed(the_console console, the_why text) returns void language sql as $$
  select emit_console_event('console.closed', the_console, jsonb_build_object(
    'opened', the_console.opened_at, 'closed', clock_timestamp(), 'bytes', the_console.bytes, 'why', the_why))
$$;

-- The first redemption uses the ticket up, whatever its outcome. The answer is the same for a used, expired and unknown ticket.
create function redeem_ticket(the_hash bytea, the_via text, the_address text)
returns table (outcome text, console uuid, vm uuid, name text, boot text, host uuid, address text, port integer)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  ticket screen_ticket;
  made console;
begin
  update screen_ticket set used_at = clock_timestamp()
    where ticket_hash = the_hash and used_at is null and made_at > clock_timestamp() - ticket_life()
    returning * into ticket;
  if not found then
    return query select 'unknown', null::uuid, null::uuid, null, null, null::uuid, null, null::integer;
    return;
  end if;
  -- Before counting: concurrent calls for the same VM or user are counted. Always in this order.
  perform pg_advisory_xact_lock(hashtextextended('console of vm ' || ticket.vm, 0));
  perform pg_advisory_xact_lock(hashtextextended('console of user ' || ticket.account, 0));
  if (select why is not null from why_no_screen(ticket.vm, ticket.boot, ticket.host, ticket.account_org, ticket.account)) then
    return query select 'unknown', null::uuid, null::uuid, null, null, null::uuid, null, null::integer;
    return;
  end if;
  if exists (select from cloud, lateral (
      select count(*) filter (where other.vm = ticket.vm) as of_vm, count(*) filter (where other.account = ticket.account) as of_user
      from console other
      where (other.vm = ticket.vm or other.account = ticket.account)
        and other.ended_at is null and other.renewed_at > clock_timestamp() - console_life()) open
    where open.of_vm >= cloud.consoles_per_vm or open.of_user >= cloud.consoles_per_user) then
    return query select 'too many', null::uuid, null::uuid, null, null, null::uuid, null, null::integer;
    return;
  end if;
  insert into console (org, vapp, vm, boot, host, account_org, account, user_name, address, via)
    select ticket.org, vm.vapp, vm.id, ticket.boot, ticket.host, account.org, account.id, account.name, left(the_address, 100), left(the_via, 100)
    from vm, account where vm.id = ticket.vm and account.org = ticket.account_org and account.id = ticket.account
    returning * into made;
  perform emit_console_event('console.opened', made, '{}');
  return query select 'open', made.id, vm.id, vm.name::text, made.boot, host.id, host.address, host.port
    from vm join host on host.id = made.host where vm.id = made.vm;
end $$;

-- A console process calls it every 2 s with all its consoles; the result lists those that it must close, and why. The call also
-- closes consoles of other processes that have not been renewed for too long, unless this process itself was cut off just now:
-- after an outage of this database nothing was renewed, and no process is lost.
create function renew_consoles(the_via text, the_ids uuid[], the_bytes bigint[])
returns table (console uuid, why text)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  speaking_since timestamptz;
  lost console;
begin
  the_via := left(the_via, 100);
  insert into console_process as process (via, since, renewed_at) values (the_via, clock_timestamp(), clock_timestamp())
    on conflict (via) do update set renewed_at = excluded.renewed_at,
      since = case when process.renewed_at < excluded.renewed_at - console_life() / 2 then excluded.since else process.since end
    returning process.since into speaking_since;
  update console set renewed_at = clock_timestamp(), bytes = greatest(console.bytes, given.bytes)
    from unnest(the_ids, the_bytes) as given(id, bytes)
    where console.id = given.id and console.via = the_via;
  update console set ended_at = clock_timestamp(), why = ending.why
    from (select open.id, reason.why from console open
      cross join lateral why_no_screen(open.vm, open.boot, open.host, open.account_org, open.account) reason
      where open.id = any (the_ids) and open.via = the_via and open.ended_at is null and reason.why is not null) ending
    where console.id = ending.id;
  if speaking_since < clock_timestamp() - console_life() then
    for lost in delete from console where id in (
        select id from console where renewed_at < clock_timestamp() - console_life() for update skip locked)
      returning * loop
      perform emit_console_closed(lost, coalesce(lost.why, 'its console process was lost'));
    end loop;
    delete from console_process where renewed_at < clock_timestamp() - interval '1 day';
  end if;
  return query select given.id, case when known.id is null then 'the console was silent for too long' else known.why end
    from unnest(the_ids) as given(id) left join console known on known.id = given.id
    where known.id is null or known.ended_at is not null;
end $$;

-- Emits exactly one event for each console, with all its bytes. The reason recorded here takes precedence over the caller's.
create function close_console(the_console uuid, the_bytes bigint, the_why text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare closed console;
begin
  delete from console where id = the_console returning * into closed;
  if not found then return; end if;
  closed.bytes := greatest(closed.bytes, the_bytes);
  perform emit_console_closed(closed, coalesce(closed.why, left(the_why, 200)));
end $$;


-- ── Workflow servers ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- The last transaction that changed an account or an organisation: caches of accounts compare it. A row, because a sequence would
-- be visible before the change itself; written at the commit, so that no transaction waits for it.
create table account_stamp (
  single boolean primary key default true check (single),
  changed xid8 not null default pg_current_xact_id()
);
insert into account_stamp default values;

create function stamp_accounts() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- Once per transaction, for any number of rows.
  update account_stamp set changed = pg_current_xact_id() where changed <> pg_current_xact_id();
  return null;
end $$;
create constraint trigger stamp_accounts after insert or update or delete on account
  deferrable initially deferred for each row execute function stamp_accounts();
create constraint trigger stamp_accounts after insert or update or delete on org
  deferrable initially deferred for each row execute function stamp_accounts();

-- Workflow servers (`skerry cloud workflow`). A certificate for their clients is renewed for the host named here only: an attacker
-- who takes one over cannot impersonate another site.
create table workflow_machine (
  name text primary key,
  -- The DNS name or address under which clients reach it.
  host text not null,
  made_at timestamptz not null default clock_timestamp()
);

-- Which user logged in at which workflow server, and when: a server gets grants for these users only.
create table workflow_login (
  server text not null,
  account_org uuid not null,
  account uuid not null,
  at timestamptz not null default clock_timestamp(),
  primary key (server, account_org, account),
  foreign key (account_org, account) references account on delete cascade
);
create index workflow_login_at on workflow_login (at);

-- What a run, or a schedule that starts runs, may do on behalf of a user. It is checked at every call.
create table workflow_grant (
  id uuid primary key default gen_random_uuid(),
  -- The organisation of the definition: it reaches nothing outside.
  org uuid not null references org,
  kind text not null check (kind in ('run', 'schedule')),
  -- The grant that it was derived from: a schedule's, or that of the run that started this one.
  parent uuid,
  -- The user who started it: of the organisation, or a system administrator.
  account_org uuid not null,
  account uuid not null,
  -- The highest role that it may act in, even if its user gets a higher one later.
  ceiling text not null check (ceiling <> 'system administrator'),
  server text not null,
  made_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  unique (org, id),
  foreign key (org, parent) references workflow_grant (org, id) on delete set null (parent),
  foreign key (account_org, account) references account on delete cascade
);
create index workflow_grant_of_account on workflow_grant (account_org, account) where ended_at is null;
create index workflow_grant_of_parent on workflow_grant (org, parent) where parent is not null;
create index workflow_grant_ended on workflow_grant (ended_at) where ended_at is not null;


-- ── Triggers that end or delete what depends on another row ────────────────────────────────────────────────────────────────

-- When a VM has been created, or its creation has failed, its seed is not needed any more.
create function forget_guest_seed() returns trigger language plpgsql as $$
begin
  delete from guest_seed where org = new.org and vm = new.vm;
  return null;
end $$;
create trigger forget_guest_seed after update of state on task for each row
  when (new.operation = 'create' and new.state in ('success', 'error', 'canceled'))
  execute function forget_guest_seed();

-- A user who is disabled, removed or given a new password keeps no session, no token, no grant of a workflow server (so no run and
-- no schedule), no ticket and no console. Enabling the user again restores none of them. In the database, because accounts are
-- changed by the API, by operators' commands and, later, by directories.
create function end_access_of_account() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  reason text := case
    when tg_op = 'DELETE' then 'the user was removed'
    when new.disabled and not old.disabled then 'the user was disabled'
    else 'the user has a new password' end;
begin
  delete from session where org = old.org and account = old.id;
  with revoked as (delete from access_token where org = old.org and account = old.id returning org, name)
  insert into event (kind, org, details)
    select 'token.revoked', org, jsonb_build_object('user', old.name, 'token', name, 'why', reason) from revoked;
  with ended as (
    update workflow_grant set ended_at = clock_timestamp()
    where account_org = old.org and account = old.id and ended_at is null
    returning id, org, kind)
  insert into event (kind, org, details)
    select 'grant.ended', org, jsonb_build_object('user', old.name, 'grant', id, 'for', kind, 'why', reason) from ended;
  delete from workflow_login where account_org = old.org and account = old.id;
  delete from screen_ticket where account_org = old.org and account = old.id;
  update console set ended_at = clock_timestamp(), why = reason
    where account_org = old.org and account = old.id and ended_at is null;
  if tg_op = 'DELETE' then return old; end if;
  return null;
end $$;
create trigger end_access_of_changed after update on account for each row
  when ((new.disabled and not old.disabled) or new.password is distinct from old.password)
  execute function end_access_of_account();
create trigger end_access_of_removed before delete on account for each row execute function end_access_of_account();

-- Disabling an organisation ends its sessions, also after it is enabled again. Tokens and schedules are refused while it is disabled
-- and work again afterwards.
create function end_sessions_of_org() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from session where org = old.id;
  return null;
end $$;
create trigger end_sessions_of_disabled after update on org for each row
  when (new.disabled and not old.disabled) execute function end_sessions_of_org();


-- ── Why a task waits ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- The first obstacle of an open task; no row if there is none. A task of a vApp waits for what its first waiting child waits for.
-- src/tasks/claimable.ts decides by the same conditions what a worker may claim: test/claimable.test.ts compares the two. It is
-- computed on request, so it is never outdated.
create function task_wait(the_task uuid)
returns table (reason text, behind uuid, at timestamptz, since timestamptz, attempts integer, failure text, failed_at timestamptz, gives_up_at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  t task;
  v vm;
  h host;
begin
  for t in
    select * from (
      select task.* from task where task.id = the_task and task.vm is not null
      union all
      select task.* from task where task.parent = the_task
    ) part
    where part.state in ('queued', 'running')
      -- As row-level security would, which does not apply to the owner of this function.
      and part.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, part.org)
    order by part.rank, part.id
  loop
    select * into v from vm where vm.id = t.vm;
    reason := null;
    at := null;
    since := null;
    select earlier.id into behind from task earlier
      where earlier.vm = t.vm and earlier.position < t.position and earlier.state in ('queued', 'running')
      order by earlier.position limit 1;
    if behind is not null then
      reason := 'turn';
    elsif t.state = 'queued' and t.parent is not null then
      select earlier.id into behind from task earlier
        where earlier.parent = t.parent and earlier.rank < t.rank and earlier.state in ('queued', 'running')
        order by earlier.rank, earlier.id limit 1;
      if behind is not null then reason := 'order'; end if;
    end if;
    if reason is null and t.operation = 'clone' and t.state = 'queued' and not t.cancel_requested then
      select earlier.id into behind from task hold join task earlier on earlier.vm = hold.vm and earlier.position < hold.position
        where hold.parent = t.parent and hold.vm = v.source and hold.operation = 'hold' and earlier.state in ('queued', 'running')
        order by earlier.position limit 1;
      if behind is not null then
        reason := 'source';
      else
        select host.* into h from vm source join host on host.id = source.host where source.id = v.source and source.lost_reason is null;
        if found and not coalesce(h.state = 'joined' and h.quarantine is null and h.follow_until > clock_timestamp()
            and h.list_session = h.session and h.session > 0, false) then
          reason := 'source-host';
          at := h.seen_at;
          since := greatest(t.created_at, h.seen_at);
        end if;
      end if;
    end if;
    if reason in ('turn', 'order', 'source') then since := t.created_at; end if;
    -- A task that is rolled back, or must be, needs no host.
    if reason is null and v.host is not null and v.lost_reason is distinct from 'LOST' and t.direction <> 'back' and not t.cancel_requested
        and coalesce(clock_timestamp() <= t.deadline, true) and (t.operation <> 'create' or v.ever_started) then
      select * into h from host where host.id = v.host;
      if h.state <> 'joined' then
        reason := 'host-out';
      elsif h.quarantine is not null then
        reason := 'host-quarantine';
      elsif not coalesce(h.follow_until > clock_timestamp() and h.list_session = h.session and h.session > 0, false) then
        reason := 'host-silent';
        at := h.seen_at;
        since := greatest(t.created_at, h.seen_at);
      elsif exists (select from pending_undo where pending_undo.host = v.host and pending_undo.vm = v.id) then
        reason := 'pending-undo';
      end if;
    end if;
    if reason is null and t.state = 'queued' then
      if v.holder is not null and v.lease_until > clock_timestamp() then
        reason := 'claim';
        at := v.lease_until;
      elsif t.worker_wait in ('host-limit', 'org-limit') then
        reason := t.worker_wait;
      elsif v.wake_attempts > 0 then
        -- The sweep has woken its queue, and no worker has claimed it yet.
        reason := 'worker';
      end if;
    elsif reason is null and coalesce(v.lease_until < clock_timestamp(), true) then
      reason := 'worker';
    elsif reason is null and t.attempts > 0 then
      reason := t.worker_wait;
      since := t.failing_since;
    end if;
    if reason is not null then
      if reason = t.wait_reason then since := t.waiting_since; end if;
      attempts := t.attempts;
      failure := t.last_failure;
      failed_at := t.last_failure_at;
      gives_up_at := null;
      if t.state = 'running' and t.direction = 'forward' then
        gives_up_at := least(case when not t.past_no_return then t.deadline end, case when t.attempts > 0 then t.step_gives_up_at end);
      end if;
      return next;
      return;
    end if;
  end loop;
end $$;


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- One policy per role: a policy with an "or" costs an index.
do $$
declare each record;
begin
  for each in select * from (values
      -- What a tenant may do with the rows of its organisation.
      ('org', 'id', 'select'), ('account', 'org', 'all'), ('session', 'org', 'all'), ('access_token', 'org', 'all'),
      ('quota', 'org', 'select'), ('lease_policy', 'org', 'select'), ('vdc', 'org', 'all'), ('template', 'org', 'all'),
      ('catalog', 'org', 'all'), ('catalog_item', 'org', 'all'), ('upload', 'org', 'all'), ('vapp', 'org', 'all'),
      ('vm', 'org', 'all'), ('guest_seed', 'org', 'all'), ('metadata', 'org', 'all'), ('task', 'org', 'all'),
      ('request_key', 'org', 'all'), ('screen_ticket', 'org', 'all'), ('console', 'org', 'nothing'),
      ('workflow_grant', 'org', 'nothing'), ('vm_tally', 'org', 'select'), ('vm_tally_delta', 'org', 'select, insert'))
      as protected(name, owner, granted) loop
    execute format('alter table %I enable row level security', each.name);
    execute format('alter table %I force row level security', each.name);
    execute format('create policy %I on %I to skerry_tenant using (%I = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each.name || '_own', each.name, each.owner);
    execute format('create policy %I on %I to skerry_system using (true)', each.name || '_all', each.name);
    execute format('grant select, insert, update, delete on %I to skerry_system', each.name);
    if each.granted <> 'nothing' then
      execute format('grant %s on %I to skerry_tenant',
        case each.granted when 'all' then 'select, insert, update, delete' else each.granted end, each.name);
    end if;
  end loop;
end $$;
-- Only system administrators have tickets for screens of an organisation that is not theirs.
drop policy screen_ticket_own on screen_ticket;
create policy screen_ticket_own on screen_ticket to skerry_tenant
  using (org = nullif(current_setting('app.org', true), '')::uuid)
  with check (org = nullif(current_setting('app.org', true), '')::uuid
    and account_org = nullif(current_setting('app.org', true), '')::uuid);
alter table vm_tally_cloud enable row level security;
alter table vm_tally_cloud force row level security;
create policy vm_tally_cloud_all on vm_tally_cloud to skerry_system using (true);

-- Tables without rows of tenants.
grant select on image, cloud to skerry_tenant;
grant select, insert, update, delete on
  image, cloud, cell, host, invitation, pending_undo, login_failure, host_record, orphan, standing_back, vm_tally_cloud, console_process,
  console_machine, workflow_machine, workflow_login to skerry_system;
grant select on console_role, account_stamp, event_part to skerry_system;
grant usage on sequence fence_counter to skerry_tenant, skerry_system;
grant select, update on fence_counter, fence_era to skerry_system;

-- These functions act as the role that sees all rows, also if the migrating role is no superuser and the caller is a tenant. The
-- login of a console is a member of skerry_console only: an attacker who takes a console over can redeem a ticket, and find none.
grant create on schema public to skerry_system;
alter function redeem_ticket(bytea, text, text) owner to skerry_system;
alter function renew_consoles(text, uuid[], bigint[]) owner to skerry_system;
alter function close_console(uuid, bigint, text) owner to skerry_system;
alter function end_access_of_account() owner to skerry_system;
alter function end_sessions_of_org() owner to skerry_system;
alter function task_wait(uuid) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function redeem_ticket(bytea, text, text), renew_consoles(text, uuid[], bigint[]), close_console(uuid, bigint, text),
  task_wait(uuid) from public;
grant execute on function redeem_ticket(bytea, text, text), renew_consoles(text, uuid[], bigint[]), close_console(uuid, bigint, text)
  to skerry_console;
grant execute on function task_wait(uuid) to skerry_tenant, skerry_system;

insert into cloud default values;
