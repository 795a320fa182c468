-- Consoles that were made (`skerry cloud console`). A certificate for browsers is renewed for the host that stands here and for no
-- other: whoever takes a console over cannot pass as another site.
create table console_machine (
  name text primary key,
  -- The DNS name or address that browsers reach it by.
  host text not null,
  -- By which it comes to this database.
  login text not null,
  made_at timestamptz not null default clock_timestamp()
);
grant select, insert, update, delete on console_machine to skerry_system;
