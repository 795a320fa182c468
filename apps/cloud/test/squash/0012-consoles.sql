-- Screens that somebody sees now, and the three functions by which a console, which sees no table at all, opens, keeps and closes one.

-- Which roles hold the right vm:console, and which of them in every organisation: src/identity/roles.ts, as the database must know it.
create table console_role (
  role text primary key,
  everywhere boolean not null default false
);
insert into console_role (role, everywhere) values
  ('console only', false), ('user', false), ('author', false), ('organisation administrator', false), ('system administrator', true);
grant select on console_role to skerry_system;

-- The most screens that may be seen at once.
alter table cloud
  add column consoles_per_vm integer not null default 4 check (consoles_per_vm >= 0),
  add column consoles_per_user integer not null default 20 check (consoles_per_user >= 0);

-- A ticket is for the host that was told of it. None of before lives long enough to be worth one; truncate, because the owner is
-- behind the wall too.
truncate screen_ticket;
alter table screen_ticket add column host uuid not null;

create function ticket_life() returns interval language sql immutable return interval '30 s';
-- Longer than five renewals: a console that was silent for so long is not there any more.
create function console_life() returns interval language sql immutable return interval '10 s';

create table console (
  id uuid primary key default gen_random_uuid(),
  -- Whose VM, which of its lives, and where.
  org uuid not null,
  vapp uuid not null,
  vm uuid not null,
  boot text not null,
  host uuid not null,
  -- Who sees it, by which name, from where. Without a foreign key: whoever is removed must still be told of when it is closed.
  account_org uuid not null,
  account uuid not null,
  user_name text not null,
  address text,
  -- Which console process shows it.
  via text not null,
  opened_at timestamptz not null default clock_timestamp(),
  renewed_at timestamptz not null default clock_timestamp(),
  bytes bigint not null default 0,
  -- Must be closed, and why: its process is told when it next renews.
  ended_at timestamptz,
  why text,
  foreign key (org, vm) references vm
);
create index console_of_vm on console (vm);
create index console_of_account on console (account);
create index console_renewed on console (renewed_at);
alter table console enable row level security;
alter table console force row level security;
create policy console_own on console to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy console_all on console to skerry_system using (true);
grant select, insert, update, delete on console to skerry_system;

-- Console processes, and since when each has renewed without a pause: one that was itself cut off from here cannot say who else was lost.
create table console_process (
  via text primary key,
  since timestamptz not null,
  renewed_at timestamptz not null
);
grant select, insert, update, delete on console_process to skerry_system;

-- Why this user may not see this life of this VM at this host; null: nothing speaks against it. A VM that nobody can see now is not off.
create function why_no_screen(the_vm uuid, the_boot text, the_host uuid, the_org uuid, the_account uuid)
returns table (why text) language sql stable as $$
  select case
    when vm.id is null or vm.closed or vm.deleted_at is not null then 'the VM was deleted'
    when vm.fate is not null then 'the VM is not there any more'
    when vm.status = 'SUSPENDED' then 'the VM was suspended'
    when vm.status <> 'POWERED_ON' then 'the VM was powered off'
    when (vm.boot, vm.host) is distinct from (the_boot, the_host) then 'the VM was started anew'
    when account.id is null then 'the user was removed'
    when account.disabled then 'the user was disabled'
    when org.disabled then 'the organisation of the user was disabled'
    when console_role.role is null or (account.org <> vm.org and not console_role.everywhere)
      then 'the user has no right to this screen any more'
  end
  from (values (true)) as always
    left join vm on vm.id = the_vm
    left join account on account.org = the_org and account.id = the_account
    left join org on org.id = account.org
    left join console_role on console_role.role = account.role
$$;

-- In the words of every audit event: who, and from where.
create function tell_console(the_kind text, the_console console, more jsonb) returns void language sql as $$
  insert into event (kind, org, vapp, vm, what)
  values (the_kind, the_console.org, the_console.vapp, the_console.vm,
    jsonb_strip_nulls(jsonb_build_object('by', the_console.user_name, 'from', the_console.address, 'via', the_console.via)) || more)
$$;

create function tell_closed(the_console console, the_why text) returns void language sql as $$
  select tell_console('console.closed', the_console, jsonb_build_object(
    'opened', the_console.opened_at, 'closed', clock_timestamp(), 'bytes', the_console.bytes, 'why', the_why))
$$;

-- A ticket is used by whoever shows it first, whatever comes of it. The answer to one that is used, too old or nobody's is the same.
create function redeem_ticket(the_hash bytea, the_via text, the_address text)
returns table (outcome text, console uuid, vm uuid, name text, boot text, host uuid, address text, port integer)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  ticket screen_ticket;
  made console;
begin
  update screen_ticket set used_at = clock_timestamp()
    where ticket_hash = the_hash and used_at is null and made_at > clock_timestamp() - ticket_life()
    returning * into ticket;
  if not found then
    return query select 'unknown', null::uuid, null::uuid, null, null, null::uuid, null, null::integer;
    return;
  end if;
  -- Before anything is counted: whoever opens one of the same VM, or for the same user, is counted by then. Always in this order.
  perform pg_advisory_xact_lock(hashtextextended('console of vm ' || ticket.vm, 0));
  perform pg_advisory_xact_lock(hashtextextended('console of user ' || ticket.account, 0));
  if (select why is not null from why_no_screen(ticket.vm, ticket.boot, ticket.host, ticket.account_org, ticket.account)) then
    return query select 'unknown', null::uuid, null::uuid, null, null, null::uuid, null, null::integer;
    return;
  end if;
  if exists (select from cloud, lateral (
      select count(*) filter (where other.vm = ticket.vm) as of_vm, count(*) filter (where other.account = ticket.account) as of_user
      from console other
      where (other.vm = ticket.vm or other.account = ticket.account)
        and other.ended_at is null and other.renewed_at > clock_timestamp() - console_life()) open
    where open.of_vm >= cloud.consoles_per_vm or open.of_user >= cloud.consoles_per_user) then
    return query select 'too many', null::uuid, null::uuid, null, null, null::uuid, null, null::integer;
    return;
  end if;
  insert into console (org, vapp, vm, boot, host, account_org, account, user_name, address, via)
    select ticket.org, vm.vapp, vm.id, ticket.boot, ticket.host, account.org, account.id, account.name, left(the_address, 100), left(the_via, 100)
    from vm, account where vm.id = ticket.vm and account.org = ticket.account_org and account.id = ticket.account
    returning * into made;
  perform tell_console('console.opened', made, '{}');
  return query select 'open', made.id, vm.id, vm.name::text, made.boot, host.id, host.address, host.port
    from vm join host on host.id = made.host where vm.id = made.vm;
end $$;

-- What a console process says every 2 s of all that it shows; the answer is what it must close, and why. Whoever asks also closes
-- what nobody has renewed for too long, so that a lost process is told of; but not while it has only just come back itself: after an
-- outage of this database nobody has renewed anything, and nobody is lost.
create function renew_consoles(the_via text, the_ids uuid[], the_bytes bigint[])
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
  update console set renewed_at = clock_timestamp(), bytes = greatest(console.bytes, told.bytes)
    from unnest(the_ids, the_bytes) as told(id, bytes)
    where console.id = told.id and console.via = the_via;
  update console set ended_at = clock_timestamp(), why = ending.why
    from (select open.id, reason.why from console open
      cross join lateral why_no_screen(open.vm, open.boot, open.host, open.account_org, open.account) reason
      where open.id = any (the_ids) and open.via = the_via and open.ended_at is null and reason.why is not null) ending
    where console.id = ending.id;
  if speaking_since < clock_timestamp() - console_life() then
    for lost in delete from console where id in (
        select id from console where renewed_at < clock_timestamp() - console_life() for update skip locked)
      returning * loop
      perform tell_closed(lost, coalesce(lost.why, 'its console process was lost'));
    end loop;
    delete from console_process where renewed_at < clock_timestamp() - interval '1 day';
  end if;
  return query select told.id, case when known.id is null then 'the console was silent for too long' else known.why end
    from unnest(the_ids) as told(id) left join console known on known.id = told.id
    where known.id is null or known.ended_at is not null;
end $$;

-- Exactly one event for each, with all its bytes: that it had to be closed is known here better than by its process.
create function close_console(the_console uuid, the_bytes bigint, the_why text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare closed console;
begin
  delete from console where id = the_console returning * into closed;
  if not found then return; end if;
  closed.bytes := greatest(closed.bytes, the_bytes);
  perform tell_closed(closed, coalesce(closed.why, left(the_why, 200)));
end $$;

-- They act as the role that sees all rows, also where who migrates is no superuser. A console's login is member of skerry_console
-- and of nothing else: whoever takes a console over can show a ticket, and cannot find one.
do $$ begin
  create role skerry_console nologin;
exception when duplicate_object or unique_violation then null; end $$;
grant skerry_console to current_user;
grant create on schema public to skerry_system;
alter function redeem_ticket(bytea, text, text) owner to skerry_system;
alter function renew_consoles(text, uuid[], bigint[]) owner to skerry_system;
alter function close_console(uuid, bigint, text) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function redeem_ticket(bytea, text, text), renew_consoles(text, uuid[], bigint[]), close_console(uuid, bigint, text)
  from public;
grant execute on function redeem_ticket(bytea, text, text), renew_consoles(text, uuid[], bigint[]), close_console(uuid, bigint, text)
  to skerry_console;
