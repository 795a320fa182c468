-- Passkeys (Web Authentication): second factors that replace the password and the code on the login page.

alter table second_factor
  alter column sealed drop not null,
  -- What the authenticator calls the passkey, its public key (DER), and how often the authenticator says that it was used.
  add column credential bytea,
  add column public_key bytea,
  add column counter bigint not null default 0,
  add unique (org, account, credential),
  drop constraint second_factor_kind_check,
  add constraint second_factor_kind_check check (kind in ('totp', 'passkey')),
  add constraint second_factor_parts_check
    check (case kind when 'totp' then sealed is not null else credential is not null and public_key is not null end);

-- A passkey is confirmed from the beginning, and workflow servers learn of it as of a code that confirms.
create constraint trigger stamp_accounts_of_confirmed after insert on second_factor
  deferrable initially deferred for each row when (new.confirmed) execute function stamp_accounts();

-- What a passkey has to sign, once and within five minutes.
create table passkey_challenge (
  challenge_hash bytea primary key,
  -- The secret in a cookie of the browser: a challenge is worth nothing in another one.
  browser_hash bytea not null,
  -- Who adds a passkey, and whether they had another second factor and have proved it. Null: a passkey that exists is asked for.
  org uuid,
  account uuid,
  proved boolean not null default false,
  -- From where it was asked for, so that one network cannot fill the table.
  network text not null,
  began_at timestamptz not null default clock_timestamp(),
  foreign key (org, account) references account on delete cascade
);
create index passkey_challenge_network on passkey_challenge (network, began_at);
create index passkey_challenge_began_at on passkey_challenge (began_at);
create index passkey_challenge_account on passkey_challenge (org, account) where account is not null;

-- A page has shown a passkey of its user: this counts as a code of the user, once and within five minutes.
create table passkey_proof (
  proof_hash bytea primary key,
  org uuid not null,
  account uuid not null,
  began_at timestamptz not null default clock_timestamp(),
  foreign key (org, account) references account on delete cascade
);
create index passkey_proof_began_at on passkey_proof (began_at);
create index passkey_proof_account on passkey_proof (org, account);

do $$
declare each text;
begin
  foreach each in array array['passkey_challenge', 'passkey_proof'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_system', each);
  end loop;
end $$;

-- A passkey logs in without the password, and who knew the old password may have added it: a new password ends passkeys, as it ends
-- sessions and API tokens. In the database, as for those.
create function end_passkeys_of_account() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with ended as (
    delete from second_factor where org = old.org and account = old.id and kind = 'passkey' returning org, name)
  insert into event (kind, org, details)
    select 'second-factor.removed', org, jsonb_build_object('user', old.name, 'name', name, 'why', 'new-password') from ended;
  if not exists (select from second_factor where org = old.org and account = old.id and confirmed) then
    delete from recovery_code where org = old.org and account = old.id;
  end if;
  return null;
end $$;
create trigger end_passkeys_of_changed after update on account for each row
  when (new.password is distinct from old.password) execute function end_passkeys_of_account();
