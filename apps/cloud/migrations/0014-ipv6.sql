-- IPv6 of a routed network, if its organisation wants it: a unique local prefix, of which guests make their addresses themselves.

-- Every prefix that was ever given out. It is never given again: another network must not get packets of guests that remember it.
create table ipv6_prefix (prefix text collate "C" primary key);
grant select, insert on ipv6_prefix to skerry_system;

-- 56 random bits: a prefix says nothing about other networks. Tenants do not see those of others, so they take one by this function only.
create function take_ipv6_prefix() returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare
  digits text;
  taken text;
begin
  loop
    digits := 'fd' || right(replace(gen_random_uuid()::text, '-', ''), 12) || left(gen_random_uuid()::text, 2);
    insert into ipv6_prefix (prefix)
      values (set_masklen((regexp_replace(digits, '(.{4})(?=.)', '\1:', 'g') || '::')::inet, 64)::text)
      on conflict do nothing returning prefix into taken;
    if taken is not null then return taken; end if;
  end loop;
end $$;

-- Null: it has no IPv6.
alter table network add column ipv6_prefix text collate "C"
  check (ipv6_prefix ~ '^fd[0-9a-f]{2}(:[0-9a-f]{1,4}){0,3}::/64$'),
  add check (ipv6_prefix is null or kind = 'routed');

grant create on schema public to skerry_system;
alter function take_ipv6_prefix() owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function take_ipv6_prefix() from public;
grant execute on function take_ipv6_prefix() to skerry_tenant, skerry_system;
