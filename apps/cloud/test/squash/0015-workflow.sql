-- What a workflow server needs of the cloud: who somebody is, when that may have changed, and leave to act for them.

-- The last transaction that changed an account or an organisation: whoever remembers what he was told of one looks here. A row, because
-- a sequence would be seen before the change that it tells of; written at the commit, so that nobody who holds it waits for anything.
create table account_stamp (
  single boolean primary key default true check (single),
  changed xid8 not null default pg_current_xact_id()
);
insert into account_stamp default values;
grant select on account_stamp to skerry_system;

create function stamp_accounts() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- Once for a transaction, however many rows it changed.
  update account_stamp set changed = pg_current_xact_id() where changed <> pg_current_xact_id();
  return null;
end $$;
create constraint trigger stamp_accounts after insert or update or delete on account
  deferrable initially deferred for each row execute function stamp_accounts();
create constraint trigger stamp_accounts after insert or update or delete on org
  deferrable initially deferred for each row execute function stamp_accounts();

-- Workflow servers that were made (`skerry cloud workflow`). A certificate for their clients is renewed for the host that stands here and
-- for no other: whoever takes one over cannot pass as another site.
create table workflow_machine (
  name text primary key,
  -- The DNS name or address that clients reach it by.
  host text not null,
  made_at timestamptz not null default clock_timestamp()
);
grant select, insert, update, delete on workflow_machine to skerry_system;

-- Who showed a workflow server his password, and when: it may ask for leave to act for nobody else.
create table workflow_login (
  server text not null,
  account_org uuid not null,
  account uuid not null,
  at timestamptz not null default clock_timestamp(),
  primary key (server, account_org, account),
  foreign key (account_org, account) references account on delete cascade
);
create index workflow_login_at on workflow_login (at);
grant select, insert, update, delete on workflow_login to skerry_system;

-- What a run, or a schedule that starts runs, may do in somebody's name. It is looked at with every call that is made by it.
create table workflow_grant (
  id uuid primary key default gen_random_uuid(),
  -- Whose definition it runs: nothing outside of it is reached.
  org uuid not null references org,
  kind text not null check (kind in ('run', 'schedule')),
  -- Which grant it was drawn from: a schedule's, or that of the run which started this one.
  parent uuid,
  -- Who started it: somebody of the organisation, or one of those who run the cloud.
  account_org uuid not null,
  account uuid not null,
  -- The most that it may be worth, whatever its user is worth later.
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
alter table workflow_grant enable row level security;
alter table workflow_grant force row level security;
create policy workflow_grant_own on workflow_grant to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy workflow_grant_all on workflow_grant to skerry_system using (true);
grant select, insert, update, delete on workflow_grant to skerry_system;

-- Whoever is disabled or removed has no run any more: not one of them comes back with him.
create function end_grants_of_account() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with ended as (
    update workflow_grant set ended_at = clock_timestamp()
    where account_org = old.org and account = old.id and ended_at is null
    returning id, org, kind)
  insert into event (kind, org, what)
    select 'grant.ended', org, jsonb_build_object('user', old.name, 'grant', id, 'for', kind,
      'why', case when tg_op = 'DELETE' then 'the user was removed' else 'the user was disabled' end)
    from ended;
  if tg_op = 'DELETE' then return old; end if;
  return null;
end $$;
create trigger end_grants_of_disabled after update on account for each row
  when (new.disabled and not old.disabled) execute function end_grants_of_account();
create trigger end_grants_of_removed before delete on account for each row execute function end_grants_of_account();

-- It acts as the role that sees all rows, also where who migrates is no superuser and who disables is a tenant.
grant create on schema public to skerry_system;
alter function end_grants_of_account() owner to skerry_system;
revoke create on schema public from skerry_system;
