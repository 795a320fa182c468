-- Images that are on their way into a catalog. Their bytes lie in the store of images, in a part of their own.
create table upload (
  org uuid not null,
  id uuid not null default uuid_v7(),
  catalog uuid not null,
  name text collate "C" not null,
  bytes bigint not null,
  -- What its SHA-256 shall be, where that was told.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  cpus integer not null,
  memory_mib integer not null,
  -- So many of them are on disk, and no power cut takes them back.
  received bigint not null default 0,
  -- Somebody is sending; unless that was renewed since, nobody is.
  sending_until timestamptz not null default '-infinity',
  touched_at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  unique (org, catalog, name),
  foreign key (org, catalog) references catalog on delete cascade
);
alter table upload enable row level security;
alter table upload force row level security;
create policy upload_own on upload to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy upload_all on upload to skerry_system using (true);
grant select, insert, update, delete on upload to skerry_tenant, skerry_system;
