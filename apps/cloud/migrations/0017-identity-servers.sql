-- Identity servers of an organisation: others prove who its users are, and their groups give the roles.

create table identity_provider (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  kind text not null check (kind in ('ldap')),
  settings jsonb not null,
  -- The password of the reader, encrypted with the key of the cells.
  sealed bytea not null,
  disabled boolean not null default false,
  made_at timestamptz not null default clock_timestamp(),
  -- Since when it does not answer, and whether an event said so.
  silent_since timestamptz,
  silent_reported boolean not null default false,
  -- Since when it reports that too many users have left at once, which is not believed.
  doubted_since timestamptz,
  primary key (org, id),
  unique (id),
  unique (org, name)
);

-- Which role a group of the identity server has here. Who is in none of them has no access.
create table group_role (
  org uuid not null,
  provider uuid not null,
  name text collate "C" not null,
  role text not null,
  primary key (org, provider, name),
  foreign key (org, provider) references identity_provider on delete cascade
);

-- An account has one proof: a password, or an identity server that knows the user by `subject`, whatever the name is.
alter table account
  alter column password drop not null,
  add column provider uuid,
  add column subject text collate "C",
  -- The identity server no longer gives a role; a login with a role ends it. `disabled` is an administrator's decision instead.
  add column lapsed boolean not null default false,
  -- When the identity server last confirmed the user.
  add column proved_at timestamptz,
  add constraint account_proof check ((password is null) = (provider is not null) and (provider is null) = (subject is null)),
  add foreign key (org, provider) references identity_provider (org, id);
create unique index account_subject on account (org, provider, subject) where subject is not null;

-- Caches of accounts compare the stamp: the time of a confirmation changes nothing for them.
drop trigger stamp_accounts on account;
create constraint trigger stamp_accounts
  after insert or delete or update of name, role, password, disabled, lapsed, provider, subject on account
  deferrable initially deferred for each row execute function stamp_accounts();

-- As before; with users who have no role at their identity server any more.
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
    when console_role.role is null or (account.org <> vm.org and not console_role.everywhere)
      then 'no-permission'
  end
  from (values (true)) as always
    left join vm on vm.id = the_vm
    left join account on account.org = the_org and account.id = the_account
    left join org on org.id = account.org
    left join console_role on console_role.role = account.role
$$;

-- As before; also for a user who has lapsed. A return restores nothing.
create or replace function end_access_of_account() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  reason text := case
    when tg_op = 'DELETE' then 'user-removed'
    when new.disabled and not old.disabled then 'user-disabled'
    when new.lapsed and not old.lapsed then 'user-lapsed'
    else 'new-password' end;
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
drop trigger end_access_of_changed on account;
create trigger end_access_of_changed after update on account for each row
  when ((new.disabled and not old.disabled) or (new.lapsed and not old.lapsed) or new.password is distinct from old.password)
  execute function end_access_of_account();


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare each text;
begin
  foreach each in array array['identity_provider', 'group_role'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_system', each);
  end loop;
end $$;
-- Tenants read everything but the password of the reader, and write only which groups have roles.
grant select (org, id, name, kind, settings, disabled, made_at, silent_since, silent_reported, doubted_since) on identity_provider to skerry_tenant;
grant select, insert, update, delete on group_role to skerry_tenant;
