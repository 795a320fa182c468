-- A network server compares everything every ten minutes. What it had to correct in OVN's database, although nothing had changed here,
-- someone has changed there by hand, or the server has lost: administrators should know.
create function report_corrections(the_zone uuid, the_fence bigint, units text[]) returns boolean language plpgsql
  security definer set search_path = public, pg_temp as $$
declare z network_zone;
begin
  select * into z from network_zone where id = the_zone and fence = the_fence for share;
  if not found then return false; end if;
  insert into event (kind, details) values ('network.corrected',
    jsonb_build_object('zone', z.name, 'units', cardinality(units), 'examples', to_jsonb(units[1:5])));
  return true;
end $$;

grant create on schema public to skerry_system;
alter function report_corrections(uuid, bigint, text[]) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function report_corrections(uuid, bigint, text[]) from public;
grant execute on function report_corrections(uuid, bigint, text[]) to skerry_network;
