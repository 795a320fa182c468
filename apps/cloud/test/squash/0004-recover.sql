-- What a restore from a backup needs: who was read, what the hosts said, and what became of each VM.

alter table cloud
  -- Which recovery this is, or was: each begins with the next.
  add column recovery integer not null default 0,
  add column recovering_since timestamptz,
  -- An administrator said that the database is a copy in a new cluster: the old one may still give out numbers, so the era must
  -- rise above every one that was ever seen.
  add column new_era boolean not null default false,
  -- What the last recovery found, for people: counts by kind.
  add column recovered jsonb;

alter table host
  -- The recovery in which its records were read, or in which an administrator did without them.
  add column read_in integer not null default 0,
  add column waived_in integer not null default 0;

alter table vm
  -- MISSING: its host was asked after a restore and does not have it. LOST: its host and its disks are gone for good.
  add column fate text check (fate in ('MISSING', 'LOST')),
  -- What is wanted was lost by a restore: the first sight of it says what it is.
  add column unsure boolean not null default false;

-- A generated column cannot be changed: the same one with one more case.
drop index vm_shown;
alter table vm drop column shown;
alter table vm add column shown text not null
  generated always as (case when fate is not null then fate when unseen then 'UNKNOWN' else status end) stored;
create index vm_shown on vm (org, shown) where deleted_at is null;

-- What the hosts say that they were ordered, while the cloud recovers.
create table host_record (
  host uuid not null references host,
  vm uuid not null,
  incarnation bigint not null,
  highest bigint not null,
  there boolean not null,
  gone boolean not null,
  lost boolean not null,
  deed jsonb,
  primary key (host, vm)
);

-- VMs that a host has and that no row speaks of: nobody touches them until an administrator adopts them.
create table stray (
  host uuid not null references host,
  vm uuid not null,
  found_at timestamptz not null default clock_timestamp(),
  primary key (host, vm)
);

grant select, insert, update, delete on host_record, stray to skerry_system;
