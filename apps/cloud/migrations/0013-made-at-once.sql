-- Two requests at once: each of these made something twice, or in the same place.

-- The zone is locked before a group is chosen. Two requests for different external networks, which lock different rows until then,
-- would both choose a group that is empty; a group with gateways of two external networks is not projected.
create or replace function choose_edge_group(the_zone uuid, the_external uuid, the_uplink text) returns uuid language plpgsql as $$
declare
  ready uuid[];
  found_group uuid;
begin
  perform from network_zone where id = the_zone for no key update;
  select coalesce(array_agg(id order by carried, id), '{}') into ready from (
    select host.id, (select count(*) from edge_group_host carrying where carrying.host = host.id) as carried from host
      where host.zone = the_zone and host.state = 'joined' and host.overlay = 'ready' and the_uplink = any(host.uplinks)
      order by carried, host.id limit 3) best;
  if ready = '{}' then return null; end if;
  select id into found_group from (
    select edge_group.id, (select count(*) from edge_gateway where edge_gateway.edge_group = edge_group.id) as gateways,
      (select count(*) from edge_group_host member join host on host.id = member.host
        where member.edge_group = edge_group.id and host.state = 'joined' and host.overlay = 'ready') as hosts
    from edge_group where edge_group.zone = the_zone and not exists (select from edge_gateway other
      where other.edge_group = edge_group.id and other.external <> the_external)) existing
    where hosts >= cardinality(ready) and gateways < 100 order by hosts desc, gateways, id limit 1;
  if found_group is null then
    update network_zone set keys = keys + 1 where id = the_zone;
    insert into edge_group (zone, key) select id, keys from network_zone where id = the_zone returning id into found_group;
    insert into edge_group_host (edge_group, host) select found_group, unnest(ready);
  end if;
  return found_group;
end $$;

-- What a request without a task made, such as an external address: a repeated request returns it, and makes nothing.
alter table request_key add column made text;
