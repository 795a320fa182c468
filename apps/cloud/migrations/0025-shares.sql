-- Shares: what a user, a group or everyone of an organisation may do with one vApp or one catalog, beyond their role.

create table share (
  org uuid not null,
  id uuid not null default uuid_v7(),
  -- What is shared: a vApp with its VMs, or a catalog with its items and templates.
  vapp uuid,
  catalog uuid,
  -- With whom: a user, a group of an identity server that has a role, or everyone in the organisation.
  account uuid,
  provider uuid,
  group_name text collate "C",
  -- A key of src/domain/shares.ts, which maps it to rights.
  level text not null check (level in ('ReadOnly', 'Change', 'FullControl')),
  made_at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  check (num_nonnulls(vapp, catalog) = 1),
  check ((provider is null) = (group_name is null) and num_nonnulls(account, provider) <= 1),
  foreign key (org, vapp) references vapp on delete cascade,
  foreign key (org, catalog) references catalog on delete cascade,
  foreign key (org, account) references account on delete cascade,
  foreign key (org, provider, group_name) references group_role on update cascade on delete cascade
);
-- One level for each.
create unique index share_once on share (org, coalesce(vapp, catalog), coalesce(account, provider), group_name) nulls not distinct;
create index share_vapp on share (org, vapp) where vapp is not null;
create index share_catalog on share (org, catalog) where catalog is not null;
create index share_account on share (org, account) where account is not null;
create index share_group on share (org, provider, group_name) where provider is not null;

-- Which groups with a role a person is in: as the identity server said at the last login, or at the last pass over its people.
create table account_group (
  org uuid not null,
  account uuid not null,
  provider uuid not null,
  name text collate "C" not null,
  primary key (org, account, provider, name),
  foreign key (org, account) references account on delete cascade,
  foreign key (org, provider, name) references group_role on update cascade on delete cascade
);
create index account_group_group on account_group (org, provider, name);

-- The shares that count for a user now.
create function shared_with(the_org uuid, the_account uuid) returns setof share language sql stable as $$
  select share.* from share
  where share.org = the_org and (share.account = the_account
    or (share.account is null and share.provider is null)
    or exists (select from account_group
      where account_group.org = share.org and account_group.account = the_account
        and account_group.provider = share.provider and account_group.name = share.group_name))
$$;

-- As before; with shares. The levels are those of src/domain/shares.ts that give vm:console.
create or replace function why_no_screen(the_vm uuid, the_boot text, the_host uuid, the_org uuid, the_account uuid)
returns table (why text) language sql stable as $$
  select case
    when vm.id is null or vm.closed or vm.deleted_at is not null then 'vm-deleted'
    when vm.lost_reason is not null then 'vm-lost'
    when vm.status = 'SUSPENDED' then 'vm-suspended'
    when vm.status <> 'POWERED_ON' then 'vm-powered-off'
    when (vm.boot, vm.host) is distinct from (the_boot, the_host) then 'vm-restarted'
    when account.id is null then 'user-removed'
    when account.disabled then 'user-disabled'
    when account.lapsed then 'user-lapsed'
    when org.disabled then 'org-disabled'
    when account.org = vm.org and 'vm:console' = any (org_role.permissions) then null
    when console_role.role is not null and (account.org = vm.org or console_role.everywhere) then null
    when account.org = vm.org and exists (select from shared_with(account.org, account.id) given
      where given.vapp = vm.vapp and given.level in ('Change', 'FullControl')) then null
    else 'no-permission'
  end
  from (values (true)) as always
    left join vm on vm.id = the_vm
    left join account on account.org = the_org and account.id = the_account
    left join org on org.id = account.org
    left join console_role on console_role.role = account.role
    left join org_role on org_role.org = account.org and org_role.name = account.own_role
$$;


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare each text;
begin
  foreach each in array array['share', 'account_group'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_system', each);
  end loop;
end $$;
grant select, insert, update, delete on share to skerry_tenant;
-- Identity servers say who is in which group: cells write it.
grant select on account_group to skerry_tenant;
