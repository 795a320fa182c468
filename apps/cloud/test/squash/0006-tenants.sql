-- Tokens that users make for their scripts. Like a session's, they are kept as hashes; unlike one, they end only when somebody ends them.
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

-- Nobody of it can log in, and no token of it is worth anything, while it is disabled. Its VMs stay as they are.
alter table org add column disabled boolean not null default false;

-- Nothing new is made in it while it is disabled.
alter table vdc add column disabled boolean not null default false;

-- Where an organisation finds what it can make vApps of.
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
insert into catalog (org, name) select distinct org, 'main' from template;
insert into catalog_item (org, catalog, name, template)
  select template.org, catalog.id, template.name, template.id from template join catalog on catalog.org = template.org;

-- What people write down about a vApp, or about one of its VMs.
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

-- Whether its guest may run guests of its own, as its host saw it last.
alter table vm add column nested boolean not null default false;

-- Tickets to screens, as hashes: a console redeems one, once, within 30 s of this database's clock.
create table screen_ticket (
  ticket_hash bytea primary key,
  org uuid not null,
  vm uuid not null,
  boot text not null,
  -- Who asked: somebody of the organisation, or one of those who run the cloud.
  account_org uuid not null,
  account uuid not null,
  made_at timestamptz not null default clock_timestamp(),
  used_at timestamptz,
  foreign key (org, vm) references vm,
  foreign key (account_org, account) references account on delete cascade
);
create index screen_ticket_of_vm on screen_ticket (org, vm);

-- While its sizes are being changed: what they were. Meanwhile the larger of both are taken.
alter table vm add column sizes_before jsonb;

-- The one snapshot that a VM may have: its name at the host, the user's name for it, and whether it brings a running guest back.
alter table vm
  add column snapshot text,
  add column snapshot_name text,
  add column snapshot_at timestamptz,
  add column snapshot_on boolean not null default false;

-- The most that an organisation may have at once; null: as much as there is room for. Tenants read it, nobody of them writes it.
create table quota (
  org uuid primary key references org,
  vms integer,
  running_vms integer,
  cpus integer,
  memory_mib bigint,
  storage_mib bigint
);
alter table quota enable row level security;
alter table quota force row level security;
create policy quota_own on quota to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy quota_all on quota to skerry_system using (true);
grant select on quota to skerry_tenant;
grant select, insert, update, delete on quota to skerry_system;

create index task_of_org on task (org, id) where parent is null;

do $$
declare each text;
begin
  foreach each in array array['access_token', 'catalog', 'catalog_item', 'metadata', 'screen_ticket'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format(
      'create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_tenant, skerry_system', each);
  end loop;
end $$;

-- Keys look through row-level security: one that does not begin with the organisation would tell a tenant of another's rows.
alter table task drop constraint task_vm_place_key, add unique (org, vm, place);
alter table task drop constraint task_parent_fkey;
drop index task_query_id;
create unique index task_query_id on task (org, id);
alter table task add foreign key (org, parent) references task (org, id);
-- The place of an event is given by the database alone: nothing has to keep it from coming twice.
alter table event drop constraint event_pkey;
create index event_in_order on event (tx, seq);
-- Only those who run the cloud have tickets to screens of an organisation that is not theirs.
drop policy screen_ticket_own on screen_ticket;
create policy screen_ticket_own on screen_ticket to skerry_tenant
  using (org = nullif(current_setting('app.org', true), '')::uuid)
  with check (org = nullif(current_setting('app.org', true), '')::uuid
    and account_org = nullif(current_setting('app.org', true), '')::uuid);
