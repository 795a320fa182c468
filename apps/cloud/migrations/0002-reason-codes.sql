-- Reasons are codes: why a screen, a token or a grant of a workflow server ended. The words for users are in packages/ticket.

-- Why this user may not see this boot of this VM on this host; null: the user may. A VM whose host is silent counts as running.
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

-- As before; the reasons are codes.
create or replace function renew_consoles(the_via text, the_ids uuid[], the_bytes bigint[])
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
      perform emit_console_closed(lost, coalesce(lost.why, 'process-lost'));
    end loop;
    delete from console_process where renewed_at < clock_timestamp() - interval '1 day';
  end if;
  return query select given.id, case when known.id is null then 'console-silent' else known.why end
    from unnest(the_ids) as given(id) left join console known on known.id = given.id
    where known.id is null or known.ended_at is not null;
end $$;

-- As before; the reasons are codes.
create or replace function end_access_of_account() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  reason text := case
    when tg_op = 'DELETE' then 'user-removed'
    when new.disabled and not old.disabled then 'user-disabled'
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
