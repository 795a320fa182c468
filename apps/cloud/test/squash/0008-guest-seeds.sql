-- What guests are told at their first start, until they are made: sealed with a key that is on the cells and never in here,
-- because it may hold secrets.
create table guest_seed (
  org uuid not null,
  vm uuid not null,
  sealed bytea not null,
  primary key (org, vm),
  foreign key (org, vm) references vm
);
alter table guest_seed enable row level security;
alter table guest_seed force row level security;
create policy guest_seed_own on guest_seed to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy guest_seed_all on guest_seed to skerry_system using (true);
grant select, insert, update, delete on guest_seed to skerry_tenant, skerry_system;

-- When a VM has been made, or will not be, nobody needs it any more, however that came to be.
create function forget_guest_seed() returns trigger language plpgsql as $$
begin
  delete from guest_seed where org = new.org and vm = new.vm;
  return null;
end $$;
create trigger forget_guest_seed after update of state on task for each row
  when (new.operation = 'create' and new.state in ('success', 'error', 'canceled'))
  execute function forget_guest_seed();

-- What its guest was told to call itself; null: its guest was told nothing.
alter table vm add column computer_name text;
