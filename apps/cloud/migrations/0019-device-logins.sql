-- A program without a browser asks for a token; a person allows it in a browser elsewhere (RFC 8628).

create table device_login (
  -- The secret of the program.
  device_hash bytea primary key,
  -- What the person compares and types.
  user_code text collate "C" not null unique,
  -- How the program calls itself, and from where it asks.
  name text not null,
  address text not null,
  network text not null,
  began_at timestamptz not null default clock_timestamp(),
  asked_at timestamptz,
  -- Who has allowed it.
  org uuid,
  account uuid,
  denied boolean not null default false,
  foreign key (org, account) references account on delete cascade
);
create index device_login_network on device_login (network, began_at);
create index device_login_began_at on device_login (began_at);
create index device_login_account on device_login (org, account) where account is not null;

alter table device_login enable row level security;
alter table device_login force row level security;
create policy device_login_own on device_login to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy device_login_all on device_login to skerry_system using (true);
grant select, insert, update, delete on device_login to skerry_system;
