-- A user who is disabled, removed or given a new password keeps nothing that was opened before: no session, no token for scripts, no
-- grant of a workflow server (so no run and no schedule), no ticket and no screen. Enabling the user again brings none of them back.
-- In the database, because accounts are changed by the API, by operators' commands and, later, by directories.
create function end_access_of_account() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  reason text := case
    when tg_op = 'DELETE' then 'the user was removed'
    when new.disabled and not old.disabled then 'the user was disabled'
    else 'the user has a new password' end;
begin
  delete from session where org = old.org and account = old.id;
  with revoked as (delete from access_token where org = old.org and account = old.id returning org, name)
  insert into event (kind, org, what)
    select 'token.revoked', org, jsonb_build_object('user', old.name, 'token', name, 'why', reason) from revoked;
  with ended as (
    update workflow_grant set ended_at = clock_timestamp()
    where account_org = old.org and account = old.id and ended_at is null
    returning id, org, kind)
  insert into event (kind, org, what)
    select 'grant.ended', org, jsonb_build_object('user', old.name, 'grant', id, 'for', kind, 'why', reason) from ended;
  delete from workflow_login where account_org = old.org and account = old.id;
  delete from screen_ticket where account_org = old.org and account = old.id;
  update console set ended_at = clock_timestamp(), why = reason
    where account_org = old.org and account = old.id and ended_at is null;
  if tg_op = 'DELETE' then return old; end if;
  return null;
end $$;

drop trigger end_grants_of_disabled on account;
drop trigger end_grants_of_removed on account;
drop function end_grants_of_account();
create trigger end_access_of_changed after update on account for each row
  when ((new.disabled and not old.disabled) or new.password is distinct from old.password)
  execute function end_access_of_account();
create trigger end_access_of_removed before delete on account for each row execute function end_access_of_account();

-- Nobody is logged in to an organisation that was disabled, also after it is enabled again. Tokens for scripts and schedules are refused
-- while it is disabled and go on afterwards: they are its people's, who did nothing.
create function end_sessions_of_org() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from session where org = old.id;
  return null;
end $$;
create trigger end_sessions_of_disabled after update on org for each row
  when (new.disabled and not old.disabled) execute function end_sessions_of_org();

-- They act as the role that sees all rows, also where the migrating role is no superuser and the caller is a tenant.
grant create on schema public to skerry_system;
alter function end_access_of_account() owner to skerry_system;
alter function end_sessions_of_org() owner to skerry_system;
revoke create on schema public from skerry_system;
