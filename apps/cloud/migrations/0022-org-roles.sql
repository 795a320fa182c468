-- Roles of an organisation: sets of rights that its administrators choose.

create table org_role (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  -- It never changes: accounts, groups and events name it. One of the roles that every organisation has (src/domain/roles.ts) is not replaced.
  name text collate "C" not null check (name ~ '^[a-z0-9]+([ -][a-z0-9]+)*$' and length(name) <= 63
    and name not in ('console only', 'user', 'author', 'organisation administrator', 'system administrator')),
  permissions text[] not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  unique (id),
  unique (org, name)
);
-- Caches of accounts compare the stamp.
create constraint trigger stamp_accounts after update on org_role
  deferrable initially deferred for each row execute function stamp_accounts();

-- The name, if the role is one of the organisation: such a role exists, and cannot be deleted while it is used.
alter table account
  add column own_role text collate "C" generated always as (case
    when role in ('console only', 'user', 'author', 'organisation administrator', 'system administrator') then null else role end) stored,
  add foreign key (org, own_role) references org_role (org, name);
create index account_own_role on account (org, own_role) where own_role is not null;
alter table group_role
  add column own_role text collate "C" generated always as (case
    when role in ('console only', 'user', 'author', 'organisation administrator', 'system administrator') then null else role end) stored,
  add foreign key (org, own_role) references org_role (org, name);
create index group_role_own_role on group_role (org, own_role) where own_role is not null;

-- The rights of the grant, as they were when it was given; null: those of the role that it names.
alter table workflow_grant
  add column ceiling_rights text[],
  add check (ceiling is not null or ceiling_rights is null);

-- As before; with roles of the organisation.
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
    when console_role.role is null or (account.org <> vm.org and not console_role.everywhere)
      then 'no-permission'
  end
  from (values (true)) as always
    left join vm on vm.id = the_vm
    left join account on account.org = the_org and account.id = the_account
    left join org on org.id = account.org
    left join console_role on console_role.role = account.role
    left join org_role on org_role.org = account.org and org_role.name = account.own_role
$$;


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

alter table org_role enable row level security;
alter table org_role force row level security;
create policy org_role_own on org_role to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy org_role_all on org_role to skerry_system using (true);
grant select, insert, update, delete on org_role to skerry_system, skerry_tenant;
