-- Logins with OpenID Connect: the browser is sent to an identity server, and comes back with a proof.

alter table identity_provider
  drop constraint identity_provider_kind_check,
  add constraint identity_provider_kind_check check (kind in ('ldap', 'oidc'));

-- The identity server that a login came from, and its name for its own session: a logout there ends the session here.
alter table session add column provider uuid, add column sid text collate "C";
create index session_of_sid on session (provider, sid) where provider is not null;

-- A browser was sent to an identity server and may come back once, within ten minutes.
create table login_attempt (
  state_hash bytea primary key,
  org uuid not null,
  provider uuid not null,
  -- The secret in a cookie of the browser: a state is worth nothing in another one.
  browser_hash bytea not null,
  -- The nonce and the PKCE verifier, encrypted with the key of the cells.
  sealed bytea not null,
  return_to text not null,
  -- From where it began, so that one network cannot fill the table.
  network text not null,
  began_at timestamptz not null default clock_timestamp(),
  foreign key (org, provider) references identity_provider on delete cascade
);
create index login_attempt_network on login_attempt (network, began_at);
create index login_attempt_began_at on login_attempt (began_at);
create index login_attempt_provider on login_attempt (org, provider);

alter table login_attempt enable row level security;
alter table login_attempt force row level security;
create policy login_attempt_own on login_attempt to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy login_attempt_all on login_attempt to skerry_system using (true);
grant select, insert, update, delete on login_attempt to skerry_system;
