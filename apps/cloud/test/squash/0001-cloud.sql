-- What the cloud knows. Who owns which fact, and why it is kept so: docs/operations.md.
-- Words are text with a check, not enums: under row-level security an enum loses its index.

create function uuid_v7() returns uuid language sql volatile as $$
  -- The first 48 bits are the time in milliseconds, so that ids made later sort later.
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- One row: what holds for the whole cloud.
create table cloud (
  single boolean primary key default true check (single),
  id uuid not null default gen_random_uuid(),
  recovering boolean not null default false,
  -- Certificates of cells and consoles below this epoch are refused.
  epoch integer not null default 1
);

-- Cells that are alive, so that each knows its share of the hosts.
create table cell (
  id text primary key,
  alive_until timestamptz not null
);

create table org (
  id uuid primary key default uuid_v7(),
  name text not null unique
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

create table vdc (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text not null,
  primary key (org, id),
  unique (org, name)
);

-- Bytes of a disk, by their SHA-256. Rights hang on the template, never on the digest.
create table image (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  bytes bigint not null,
  virtual_mib integer not null
);

create table template (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text not null,
  image text not null references image,
  cpus integer not null,
  memory_mib integer not null,
  disk_mib integer not null,
  primary key (org, id),
  unique (org, name)
);

create table host (
  id uuid primary key default uuid_v7(),
  name text not null,
  address text not null,
  port integer not null,
  -- The key that joined: the same key may ask again and is the same host.
  public_key text not null,
  state text not null default 'joined' check (state in ('joined', 'revoked', 'lost')),
  enabled boolean not null default false,
  -- Its first list was read; until then nothing is placed on it.
  introduced boolean not null default false,
  -- Why nothing is sent to it until a person decides; null: it is as it should be.
  quarantine text,
  follower text,
  follow_until timestamptz,
  session bigint not null default 0,
  -- The session whose list has been read: only then is the host open for work.
  listed bigint not null default 0,
  seen_at timestamptz,
  boot text,
  highest bigint not null default 0,
  version text,
  cpus integer not null default 0,
  memory_mib integer not null default 0,
  disk_mib integer not null default 0,
  local_cpus integer not null default 0,
  local_memory_mib integer not null default 0,
  -- The sums of what is placed here, kept by a trigger on vm.
  placed_cpus integer not null default 0,
  placed_memory_mib integer not null default 0,
  placed_disk_mib integer not null default 0
);

create table invitation (
  token_hash bytea primary key,
  expires_at timestamptz not null,
  -- Renews this host, whose disks survived; null: makes a new one.
  host uuid references host,
  -- The first key that used it: it belongs to that key from then on.
  public_key text,
  made uuid references host
);

create table vapp (
  org uuid not null,
  id uuid not null default uuid_v7(),
  vdc uuid not null,
  name text not null,
  owner text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- A delete was accepted: nothing more is queued.
  closed boolean not null default false,
  deleted_at timestamptz,
  primary key (org, id),
  foreign key (org, vdc) references vdc
);
create unique index vapp_name on vapp (org, name) where deleted_at is null;

create table vm (
  org uuid not null,
  id uuid not null default uuid_v7(),
  vapp uuid not null,
  name text not null,
  -- Lower starts earlier and stops later.
  start_order integer not null default 0,
  image text not null references image,
  cpus integer not null,
  memory_mib integer not null,
  disk_mib integer not null,
  created_at timestamptz not null default clock_timestamp(),
  closed boolean not null default false,
  deleted_at timestamptz,

  -- Where it is, with its sizes: the reservation.
  host uuid references host,
  incarnation bigint not null default 0,
  -- Set before the first "on" is sent: from then on it leaves its host only by migration.
  sent_on boolean not null default false,

  -- As its host saw it last, in which report. Never wished for.
  status text not null default 'UNRESOLVED'
    check (status in ('FAILED_CREATION', 'UNRESOLVED', 'RESOLVED', 'SUSPENDED', 'POWERED_ON', 'POWERED_OFF')),
  boot text,
  -- The last life of its QEMU that was seen: what ended, when it is off although it should be on.
  last_boot text,
  seen_session bigint not null default 0,
  seen_seq integer not null default 0,
  seen_at timestamptz,
  -- Nobody can see it now. Not seen is not off.
  unseen boolean not null default false,
  -- In how many lists of its own host it was not.
  missing integer not null default 0,
  shown text not null generated always as (case when unseen then 'UNKNOWN' else status end) stored,

  -- The power that it should have when nobody asks for anything; changed by tasks.
  wanted text not null default 'POWERED_OFF' check (wanted in ('POWERED_ON', 'POWERED_OFF', 'SUSPENDED')),
  -- What its queue leads to; null while nothing waits that leads anywhere.
  leads text,
  -- What its queue will leave behind, beginning with what it is: what the next request is judged by.
  desired text not null generated always as (coalesce(leads, status)) stored,
  -- Places given out in its queue so far. Counted here, on the locked row: a serial orders nothing.
  places integer not null default 0,

  -- The newest claim. Writes carry it; a lower one changes nothing.
  number bigint not null default 0,
  holder text,
  lease_until timestamptz,
  -- How often its bell was rung since somebody last came.
  rings integer not null default 0,
  rung_at timestamptz,

  primary key (org, id),
  unique (id),
  foreign key (org, vapp) references vapp
);
create unique index vm_name on vm (org, vapp, name) where deleted_at is null;
create index vm_of_host on vm (host) where deleted_at is null;
create index vm_held on vm (org) where holder is not null;
create index vm_fallen on vm (id) where wanted = 'POWERED_ON' and status = 'POWERED_OFF' and deleted_at is null;
create index vm_shown on vm (org, shown) where deleted_at is null;

create table task (
  id uuid primary key default uuid_v7(),
  org uuid not null,
  -- A parent is of a vApp and has no VM; a child has both.
  vapp uuid not null,
  vm uuid,
  parent uuid references task,
  -- A child may begin when all of lower rank have ended.
  rank integer not null default 0,
  -- One that failed cancels its later ranks.
  strict boolean not null default false,
  place integer,
  owner text not null,
  operation text not null,
  input jsonb,
  -- The status that it will have led to when it has succeeded.
  leads text,
  -- How the VM was found when it was first claimed: what undo leads back to.
  found text,
  state text not null default 'queued' check (state in ('queued', 'running', 'success', 'error', 'canceled')),
  direction text not null default 'forward' check (direction in ('forward', 'back')),
  cancel boolean not null default false,
  -- Its point of no return has begun: from here it only goes forward.
  committed boolean not null default false,
  progress integer not null default 0,
  fault text,
  message text,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  -- Counted from its start: one that waits for a host may wait.
  deadline timestamptz,
  ended_at timestamptz,
  foreign key (org, vapp) references vapp,
  foreign key (org, vm) references vm,
  unique (vm, place)
);
create index task_open on task (vm, place) where state in ('queued', 'running');
create index task_children on task (parent, rank) where parent is not null;
create index task_of_vapp on task (org, vapp, id);

-- A request that comes again is the same request.
create table request_key (
  org uuid not null references org,
  account uuid not null,
  key text not null,
  body_hash bytea not null,
  task uuid not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (org, account, key)
);

-- An undo that could not be done while its host was away; paid at its next hello, before anything else.
create table debt (
  host uuid not null references host,
  vm uuid not null,
  incarnation bigint not null,
  goal jsonb not null,
  task uuid not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (host, vm, incarnation)
);

create table event (
  -- Read only below the oldest open transaction: a serial alone would let a reader pass one by.
  tx xid8 not null default pg_current_xact_id(),
  seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  org uuid,
  kind text not null,
  vapp uuid,
  vm uuid,
  task uuid,
  host uuid,
  what jsonb not null default '{}',
  primary key (tx, seq)
);
create index event_of_org on event (org, tx, seq);

-- What is placed on a host is counted where it is placed, so that no path can forget to.
create function count_placed() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.host is not null and old.deleted_at is null then
    update host set placed_cpus = placed_cpus - old.cpus,
      placed_memory_mib = placed_memory_mib - old.memory_mib, placed_disk_mib = placed_disk_mib - old.disk_mib
    where id = old.host;
  end if;
  if tg_op <> 'DELETE' and new.host is not null and new.deleted_at is null then
    update host set placed_cpus = placed_cpus + new.cpus,
      placed_memory_mib = placed_memory_mib + new.memory_mib, placed_disk_mib = placed_disk_mib + new.disk_mib
    where id = new.host;
  end if;
  return null;
end $$;
create trigger count_placed_insert after insert on vm for each row execute function count_placed();
create trigger count_placed_delete after delete on vm for each row execute function count_placed();
create trigger count_placed_update after update on vm for each row
  when ((old.host, old.cpus, old.memory_mib, old.disk_mib, old.deleted_at)
    is distinct from (new.host, new.cpus, new.memory_mib, new.disk_mib, new.deleted_at))
  execute function count_placed();

-- The highest number that was given out, as far as this database knows.
create function highest_number() returns bigint language sql volatile
  return (select current_era() * 1099511627776 + last_value from number_counter);

insert into cloud default values;
