-- Rules and addresses of edge gateways are changed by organisations, external networks by the administrators of the cloud.

alter table external_network add column description text not null default '';
-- The default edge gateways of virtual datacenters lead to it. At most one of a zone; without one they lead to the outbound network.
alter table external_network add column is_default boolean not null default false;
alter table external_network add column deleted_at timestamptz;
create unique index external_network_default on external_network (zone) where is_default;
alter table external_network drop constraint external_network_zone_name_key;
create unique index external_network_name on external_network (zone, name) where deleted_at is null;
alter table external_network add constraint external_network_outbound
  check (kind = 'provider' or (not is_default and deleted_at is null));

alter table edge_gateway add column description text not null default '';
-- The number of the next rule. Numbers are not given twice.
alter table edge_gateway add column next_rule integer not null default 65537;

-- An edge gateway that moves to another external network leaves its group.
create function edge_gateway_moved() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes('{}', (select array_agg(id) from changed),
    (select array_agg(edge_group) from (select edge_group from earlier union select edge_group from changed) touched));
  return null;
end $$;
drop trigger edge_gateway_updated on edge_gateway;
create trigger edge_gateway_updated after update on edge_gateway referencing old table as earlier new table as changed
  for each statement execute function edge_gateway_moved();

-- The lowest free address of the pool of an external network. Its row is locked by the caller: addresses are given out one after the
-- other. Null: there is none.
create function free_external_number(the_external uuid) returns bigint language sql stable as $$
  select min(number) from (
    select low as number from external_range where external = the_external
    union all select number + 1 from external_address where external = the_external) candidate
    where exists (select from external_range where external = the_external and candidate.number between low and high)
      and not exists (select from external_address used where used.external = the_external and used.number = candidate.number);
$$;

-- The hosts of a group in an order that differs between edge gateways: not the same host carries all of them.
create function edge_gateway_hosts(the_group uuid, the_gateway uuid) returns uuid[] language sql stable as $$
  select array_agg(member.host order by md5(member.host::text || the_gateway::text)) from edge_group_host member
    where member.edge_group = the_group;
$$;
create function free_group_port(the_group uuid) returns integer language sql stable as $$
  select min(port) from generate_series(10, 32767) port
    where not exists (select from edge_gateway other where other.edge_group = the_group and other.group_port = port);
$$;

-- Null: no host can carry it, or the external network has no free address.
create function make_edge_gateway(the_org uuid, the_vdc uuid, the_name text, the_description text, the_external uuid)
  returns uuid language plpgsql as $$
declare
  outside external_network;
  the_group uuid;
  own bigint;
  made uuid := uuid_v7();
begin
  select * into outside from external_network where id = the_external and deleted_at is null for update;
  if not found then return null; end if;
  the_group := choose_edge_group(outside.zone, outside.id, outside.uplink);
  own := free_external_number(outside.id);
  if the_group is null or own is null then return null; end if;
  update network_zone set keys = keys + 1 where id = outside.zone;
  insert into edge_gateway (org, id, vdc, name, description, external, edge_group, hosts, key, group_port, address)
    select the_org, made, the_vdc, the_name, the_description, outside.id, the_group, edge_gateway_hosts(the_group, made),
      network_zone.keys, free_group_port(the_group), host('0.0.0.0'::inet + own)
    from network_zone where network_zone.id = outside.zone;
  insert into external_address (external, number, address, org, edge_gateway, purpose)
    select outside.id, own, address, the_org, made, 'gateway' from edge_gateway where org = the_org and id = made;
  return made;
end $$;

-- To the default external network of the zone if a host can carry it there, otherwise to the outbound one.
create or replace function make_default_edge_gateway(the_org uuid, the_vdc uuid) returns uuid language plpgsql as $$
declare
  outside uuid;
  made uuid;
begin
  for outside in select external_network.id from external_network join vdc on vdc.zone = external_network.zone
    where vdc.org = the_org and vdc.id = the_vdc and external_network.deleted_at is null
      and (external_network.is_default or external_network.kind = 'outbound')
    order by external_network.is_default desc, external_network.id loop
    made := make_edge_gateway(the_org, the_vdc, 'default', '', outside);
    if made is not null then return made; end if;
  end loop;
  return null;
end $$;

-- Connects an edge gateway to another external network, where it gets an address. Its networks get the name servers of that one if
-- they have those of the one before. False: no host can carry it there, or there is no free address.
create function move_edge_gateway(the_gateway uuid, the_external uuid) returns boolean language plpgsql as $$
declare
  earlier external_network;
  outside external_network;
  the_group uuid;
  own bigint;
begin
  select external_network.* into earlier from external_network join edge_gateway on edge_gateway.external = external_network.id
    where edge_gateway.id = the_gateway;
  select * into outside from external_network where id = the_external and deleted_at is null for update;
  if not found then return false; end if;
  the_group := choose_edge_group(outside.zone, outside.id, outside.uplink);
  own := free_external_number(outside.id);
  if the_group is null or own is null then return false; end if;
  delete from external_address where edge_gateway = the_gateway and purpose = 'gateway';
  update edge_gateway set external = outside.id, edge_group = the_group, hosts = edge_gateway_hosts(the_group, the_gateway),
    group_port = free_group_port(the_group), address = host('0.0.0.0'::inet + own) where id = the_gateway;
  insert into external_address (external, number, address, org, edge_gateway, purpose)
    select outside.id, own, address, org, id, 'gateway' from edge_gateway where id = the_gateway;
  update network set dns = outside.dns
    where edge_gateway = the_gateway and deleted_at is null and dns = earlier.dns and dns <> outside.dns;
  return true;
end $$;

-- Writes what an organisation may change of its edge gateway. Tenants cannot write the table: its keys and addresses are unique in a zone.
create function write_edge_gateway(the_gateway uuid, the_name text, the_description text, the_nat jsonb, the_firewall jsonb,
  the_routes jsonb, the_next_rule integer) returns void language sql security definer set search_path = public, pg_temp as $$
  update edge_gateway set name = the_name, description = the_description, nat = the_nat, firewall = the_firewall, routes = the_routes,
    next_rule = the_next_rule, version = version + 1
  where id = the_gateway and deleted_at is null and org = coalesce(nullif(current_setting('app.org', true), '')::uuid, org);
$$;

-- Takes an address of the pool for the organisation of an edge gateway: the wanted one, or the lowest free one. Tenants cannot read
-- pools. The problem: outside (of the pool), used, or full.
create function take_external_address(the_gateway uuid, wanted bigint, out address text, out problem text) language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  gateway edge_gateway;
  chosen bigint;
begin
  select * into gateway from edge_gateway where id = the_gateway and deleted_at is null
    and org = coalesce(nullif(current_setting('app.org', true), '')::uuid, org);
  if not found then problem := 'outside'; return; end if;
  perform from external_network where id = gateway.external and kind = 'provider' for update;
  if not found then problem := 'full'; return; end if;
  chosen := coalesce(wanted, free_external_number(gateway.external));
  if chosen is null then problem := 'full'; return; end if;
  if not exists (select from external_range where external = gateway.external and chosen between low and high) then
    problem := 'outside'; return;
  end if;
  insert into external_address (external, number, address, org, edge_gateway, purpose)
    values (gateway.external, chosen, host('0.0.0.0'::inet + chosen), gateway.org, gateway.id, 'tenant')
    on conflict do nothing returning external_address.address into address;
  if address is null then problem := 'used'; end if;
end $$;

create function release_external_address(the_gateway uuid, the_number bigint) returns boolean language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  delete from external_address where edge_gateway = the_gateway and number = the_number and purpose = 'tenant'
    and org = coalesce(nullif(current_setting('app.org', true), '')::uuid, org);
  return found;
end $$;

-- Whether the host of a VM is connected to the external networks of these networks, as far as they are direct. A VM without a host is
-- placed on one that is. Tenants cannot read hosts.
create function host_reaches(the_vm uuid, networks uuid[]) returns boolean language sql stable security definer
  set search_path = public, pg_temp as $$
  select not exists (
    select from vm join host on host.id = vm.host
      join network on network.org = vm.org and network.id = any(networks)
      join external_network on external_network.id = network.external
    where vm.id = the_vm and vm.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, vm.org)
      and not external_network.uplink = any(host.uplinks));
$$;

-- A card on a direct network has no address that the cloud knows: the site gives it one.
alter table nic drop constraint nic_check;
alter table nic add constraint nic_addressed check ((address is null) = ("offset" is null)
  and (mode <> 'NONE' or address is null) and (mode in ('NONE', 'DHCP') or address is not null));


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Organisations see the external networks that their edge gateways and networks lead to, not the pools nor what hosts need.
alter table external_network enable row level security;
alter table external_network force row level security;
create policy external_network_led_to on external_network for select to skerry_tenant using (
  exists (select from edge_gateway where edge_gateway.external = external_network.id)
  or exists (select from network where network.external = external_network.id));
create policy external_network_all on external_network to skerry_system using (true);
create policy external_network_projected on external_network for select to skerry_network using (true);
grant select (id, zone, name, kind, gateway, prefix, deleted_at) on external_network to skerry_tenant;

grant create on schema public to skerry_system;
alter function edge_gateway_moved() owner to skerry_system;
alter function take_external_address(uuid, bigint) owner to skerry_system;
alter function release_external_address(uuid, bigint) owner to skerry_system;
alter function host_reaches(uuid, uuid[]) owner to skerry_system;
alter function write_edge_gateway(uuid, text, text, jsonb, jsonb, jsonb, integer) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function take_external_address(uuid, bigint), release_external_address(uuid, bigint), host_reaches(uuid, uuid[]),
  write_edge_gateway(uuid, text, text, jsonb, jsonb, jsonb, integer) from public;
grant execute on function take_external_address(uuid, bigint), release_external_address(uuid, bigint), host_reaches(uuid, uuid[]),
  write_edge_gateway(uuid, text, text, jsonb, jsonb, jsonb, integer) to skerry_tenant, skerry_system;
